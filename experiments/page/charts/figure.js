// What every chart has around it: title, legend, drawing, the data as a table, and the data as a file.

const charts = {};

// Rows come as arrays in the order of the columns.
const withRows = (spec, rows) => Object.assign({}, spec, {
  rows: rows.map(row => Object.fromEntries(spec.columns.map((column, index) => [column.key, row[index]]))),
});

const csvField = value => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
};
const csv = spec => [spec.columns.map(column => column.key)]
    .concat(spec.rows.map(row => spec.columns.map(column => row[column.key])))
    .map(fields => fields.map(csvField).join(',')).join('\n') + '\n';

const addTable = (figure, spec) => {
  const details = figure.append('details').property('open', spec.kind === 'table');
  details.append('summary').text('Data as a table');
  const region = details.append('div')
      .attr('class', 'scroll').attr('tabindex', 0).attr('role', 'region').attr('aria-label', `Data: ${spec.title}`);
  const fill = () => {
    const table = region.append('table');
    table.append('thead').append('tr').selectAll('th').data(spec.columns).join('th')
        .attr('scope', 'col').attr('class', column => column.format === 'text' ? null : 'figure')
        .text(column => column.label);
    const rows = table.append('tbody').selectAll('tr').data(spec.rows).join('tr');
    rows.selectAll('td').data(row => spec.columns.map(column => ({column, value: row[column.key]}))).join('td')
        .attr('class', cell => cell.column.format === 'text' ? null : 'figure')
        .append('data').attr('value', cell => cell.value === null ? '' : cell.value)
        .text(cell => show(cell.value, cell.column.format));
  };
  // A table of thousands of rows is made when somebody asks for it.
  const kLong = 1000;
  if (spec.rows.length <= kLong) fill();
  else details.node().addEventListener('toggle', fill, {once: true});
};

const addDownload = (figure, spec) => {
  const name = spec.title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  figure.append('a').attr('class', 'download').attr('download', `${name}.csv`)
      .attr('href', `data:text/csv;charset=utf-8,${encodeURIComponent(csv(spec))}`)
      .attr('aria-label', `Download CSV: ${spec.title}`).text('Download CSV');
};

// Entries are [class of the swatch, what it stands for].
// `border` gives the line of an entry's swatch as CSS does, or null: that of its class.
const addLegend = (plot, entries, border = () => null) => {
  const items = plot.append('ul').attr('class', 'legend').attr('aria-hidden', 'true')
      .selectAll('li').data(entries).join('li');
  items.append('span').attr('class', entry => `swatch ${entry[0]}`)
      .style('border-top', entry => border(entry) && `2px ${border(entry)}`);
  items.append('span').text(entry => entry[1]);
};

const addDrawing = (plot, spec, width, height) => plot.append('svg')
    .attr('viewBox', `0 0 ${width} ${height}`).attr('width', width).attr('height', height)
    .attr('role', 'img').attr('aria-label', spec.description || describe(spec));

// Draws into `container`, and again when its width changes.
const drawChart = (container, spec) => {
  const figure = d3.select(container).append('figure').attr('class', `chart-${spec.kind}`);
  const caption = figure.append('figcaption');
  caption.append('h3').text(spec.title);
  if (spec.note) caption.append('p').text(spec.note);
  const plot = figure.append('div').attr('class', 'plot');
  let drawn = 0;
  const draw = () => {
    const width = Math.floor(container.clientWidth);
    if (width === drawn || width === 0) return;
    drawn = width;
    plot.selectAll('*').remove();
    charts[spec.kind](plot, spec, width);
  };
  draw();
  new ResizeObserver(draw).observe(container);
  const data = figure.append('div').attr('class', 'data');
  addTable(data, spec);
  addDownload(data, spec);
};
