// Values with their uncertainty around a `baseline`: each of `marks` is {value, error, label}, names of columns and
// what the mark stands for. A value within its uncertainty of the baseline is hollow: it is no difference. So is one
// whose uncertainty is not known and that is nearer than `least`.

charts.intervals = (plot, spec, width) => {
  const isNarrow = width < 400;
  const lineHeight = 22;
  const labels = spec.rows.map(row => showCell(spec, row, spec.label));
  const markText = (row, mark) => {
    const text = showCell(spec, row, mark.value);
    const error = row[mark.error] === null ? '' : ` \u00b1 ${showCell(spec, row, mark.error).replace(/^\+|\u00d7$/g, '')}`;
    return text + error;
  };
  const spread = (row, mark) => row[mark.error] || 0;
  const labelWidth = isNarrow ? 0 : Math.min(widest(labels) + 14, width * 0.45);
  const valueWidth = widest(spec.rows.flatMap(row => spec.marks.map(mark => markText(row, mark)))) + 14;
  const labelHeight = isNarrow ? 20 : 2;
  const rowHeight = labelHeight + lineHeight * spec.marks.length + 6;
  const ends = spec.rows.flatMap(row => spec.marks.filter(mark => row[mark.value] !== null)
      .flatMap(mark => [row[mark.value] - spread(row, mark), row[mark.value] + spread(row, mark)]));
  const [least, most] = d3.extent(ends.concat([spec.baseline]));
  const margin = 0.04 * (most - least || 1);
  const x = d3.scaleLinear().domain([least - margin, most + margin]).range([labelWidth + 8, width - valueWidth - 8]);
  const format = columnOf(spec, spec.marks[0].value).format;
  const axisHeight = 24;

  addLegend(plot, (spec.marks.length > 1 ? spec.marks.map((mark, index) => [`dot dot-${index}`, mark.label]) : [])
      .concat([['dot dot-none', 'no measurable difference']]));
  const svg = addDrawing(plot, spec, width, axisHeight + rowHeight * spec.rows.length);
  svg.append('g').attr('class', 'axis').attr('transform', `translate(0, ${axisHeight - 4})`)
      .call(d3.axisTop(x).ticks(isNarrow ? 3 : 5).tickFormat(value => show(value, format)).tickSizeInner(-rowHeight * spec.rows.length));
  svg.append('line').attr('class', 'baseline').attr('x1', x(spec.baseline)).attr('x2', x(spec.baseline))
      .attr('y1', axisHeight - 4).attr('y2', axisHeight + rowHeight * spec.rows.length);
  const rows = svg.selectAll('g.row').data(spec.rows).join('g').attr('class', 'row')
      .attr('transform', (row, index) => `translate(0, ${axisHeight + index * rowHeight})`);
  rows.append('text').attr('class', 'label').attr('x', isNarrow ? 0 : labelWidth - 10)
      .attr('y', isNarrow ? 14 : rowHeight / 2 + 3).attr('text-anchor', isNarrow ? 'start' : 'end')
      .text((row, index) => fitted(labels[index], isNarrow ? width : labelWidth - 10));
  spec.marks.forEach((mark, index) => {
    const y = labelHeight + lineHeight * (index + 0.5);
    const isCertain = row => Math.abs(row[mark.value] - spec.baseline) > (row[mark.error] === null ? spec.least || 0 : row[mark.error]);
    const present = rows.filter(row => row[mark.value] !== null);
    present.append('line').attr('class', `whisker whisker-${index}`).attr('y1', y).attr('y2', y)
        .attr('x1', row => x(row[mark.value] - spread(row, mark))).attr('x2', row => x(row[mark.value] + spread(row, mark)));
    present.append('circle').attr('class', row => `mark ${isCertain(row) ? `dot-${index}` : 'dot-none'}`)
        .attr('cx', row => x(row[mark.value])).attr('cy', y).attr('r', 5)
        .append('title').text(row => `${showCell(spec, row, spec.label)}: ${mark.label} ${markText(row, mark)}`);
    rows.append('text').attr('class', 'value').attr('x', width).attr('y', y + 4).attr('text-anchor', 'end')
        .text(row => markText(row, mark));
  });
};
