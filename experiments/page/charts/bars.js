// Bars side by side, one row each: `label` names the rows, `bars` are the columns that make a bar, one behind the
// other. Options: `maximum` of the axis, `reference` a column that is drawn as a tick, `changed` a column that
// says which bars stand out, `value` the column that is written behind a bar instead of its length.

charts.bars = (plot, spec, width) => {
  const keys = spec.bars;
  const isStacked = keys.length > 1;
  const length = row => d3.sum(keys, key => row[key] || 0);
  const isMissing = row => keys.every(key => row[key] === null);
  const valueText = row => isMissing(row) ? 'not simulated' : spec.value ? showCell(spec, row, spec.value) :
      show(length(row), columnOf(spec, keys[0]).format);

  const isNarrow = width < 400;
  const labels = spec.rows.map(row => showCell(spec, row, spec.label));
  const labelWidth = isNarrow ? 0 : Math.min(widest(labels) + 12, width * 0.45);
  const valueWidth = widest(spec.rows.map(valueText)) + 10;
  const rowHeight = isNarrow ? 45 : 26;
  const barTop = isNarrow ? 20 : 5;
  const barHeight = 16;
  const longest = spec.maximum || d3.max(spec.rows, row => Math.max(length(row), row[spec.reference] || 0)) || 1;
  const x = d3.scaleLinear().domain([0, longest]).range([labelWidth, width - valueWidth]);

  const legend = isStacked ? keys.map((key, index) => [`series-${index}`, columnOf(spec, key).label]) : [];
  if (spec.reference) legend.push(['reference', `reference: ${columnOf(spec, spec.reference).label}`]);
  if (spec.changed) legend.push(['accent', 'differs from the step before'], ['plain', 'as in the step before']);
  if (legend.length) addLegend(plot, legend);

  const svg = addDrawing(plot, spec, width, rowHeight * spec.rows.length + 2);
  const rows = svg.selectAll('g').data(spec.rows).join('g')
      .attr('transform', (row, index) => `translate(0, ${index * rowHeight})`);
  rows.append('text').attr('class', 'label').attr('x', isNarrow ? 0 : labelWidth - 10)
      .attr('y', isNarrow ? 14 : barTop + 12).attr('text-anchor', isNarrow ? 'start' : 'end')
      .text((row, index) => fitted(labels[index], isNarrow ? width : labelWidth - 10));
  rows.append('rect').attr('class', 'track').attr('x', x(0)).attr('y', barTop)
      .attr('width', x(longest) - x(0)).attr('height', barHeight);
  keys.forEach((key, index) => {
    const begin = row => d3.sum(keys.slice(0, index), before => row[before] || 0);
    rows.filter(row => row[key] !== null).append('rect')
        .attr('class', row => `mark ${isStacked ? `series-${index}` : row[spec.changed] === false ? 'plain' : 'accent'}`)
        .attr('x', row => x(begin(row))).attr('y', barTop)
        .attr('width', row => Math.max(0, x(begin(row) + row[key]) - x(begin(row)))).attr('height', barHeight)
        .append('title').text(row => `${showCell(spec, row, spec.label)}: ${columnOf(spec, key).label} ${showCell(spec, row, key)}`);
  });
  if (spec.reference) {
    rows.filter(row => row[spec.reference]).append('line').attr('class', 'reference-tick')
        .attr('x1', row => x(row[spec.reference])).attr('x2', row => x(row[spec.reference]))
        .attr('y1', barTop - 3).attr('y2', barTop + barHeight + 3);
  }
  rows.append('text').attr('class', 'value').attr('y', barTop + 12)
      .attr('x', row => x(Math.max(length(row), row[spec.reference] || 0)) + 6).text(valueText);
};
