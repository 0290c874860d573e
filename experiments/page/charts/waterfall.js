// Time step by step: a bar for what is left of it, and in front what the step has taken away or added. `label`
// names the rows, `value` is the time, `text` the columns that are written behind it.

charts.waterfall = (plot, spec, width) => {
  const isNarrow = width < 560;
  const labels = spec.rows.map(row => showCell(spec, row, spec.label));
  const valueText = row => row[spec.value] === null ? 'not simulated' :
      [spec.value].concat(spec.text).filter(key => row[key] !== null).map(key => showCell(spec, row, key)).join(' \u00b7 ');
  const labelWidth = isNarrow ? 0 : Math.min(widest(labels) + 12, width * 0.34);
  const valueWidth = isNarrow ? 4 : widest(spec.rows.map(valueText)) + 12;
  const rowHeight = isNarrow ? 44 : 30;
  const barTop = isNarrow ? 22 : 6;
  const barHeight = 18;
  const x = d3.scaleLinear().domain([0, d3.max(spec.rows, row => row[spec.value]) || 1])
      .range([labelWidth, width - valueWidth]);

  // The step before is the last one that has a time.
  let last = null;
  const steps = spec.rows.map(row => {
    const before = last;
    if (row[spec.value] !== null) last = row[spec.value];
    return {row, before: before === null ? row[spec.value] : before, now: row[spec.value]};
  });
  const isSlower = steps.some(step => step.now > step.before);
  addLegend(plot, [['rest', 'time left'], ['accent', 'taken away by the step']]
      .concat(isSlower ? [['worse', 'added by the step']] : []));
  const svg = addDrawing(plot, spec, width, rowHeight * steps.length + 2);
  const rows = svg.selectAll('g').data(steps).join('g')
      .attr('transform', (step, index) => `translate(0, ${index * rowHeight})`);
  rows.append('text').attr('class', 'label').attr('x', isNarrow ? 0 : labelWidth - 10)
      .attr('y', isNarrow ? 15 : barTop + 13).attr('text-anchor', isNarrow ? 'start' : 'end')
      .text((step, index) => fitted(labels[index], isNarrow ? width - textWidth(valueText(step.row)) - 8 : labelWidth - 10));
  const simulated = rows.filter(step => step.now !== null);
  simulated.append('rect').attr('class', 'mark rest').attr('y', barTop).attr('height', barHeight)
      .attr('x', x(0)).attr('width', step => x(Math.min(step.before, step.now)) - x(0))
      .append('title').text(step => `${showCell(spec, step.row, spec.label)}: ${valueText(step.row)}`);
  simulated.filter(step => step.before !== step.now).append('rect').attr('y', barTop).attr('height', barHeight)
      .attr('class', step => `step ${step.now < step.before ? 'accent' : 'worse'}`)
      .attr('x', step => x(Math.min(step.before, step.now)))
      .attr('width', step => Math.abs(x(step.before) - x(step.now)));
  rows.append('text').attr('class', 'value').attr('y', isNarrow ? 15 : barTop + 13)
      .attr('x', step => isNarrow ? width : x(Math.max(step.before, step.now || 0)) + 8)
      .attr('text-anchor', isNarrow ? 'end' : 'start').text(step => valueText(step.row));
};
