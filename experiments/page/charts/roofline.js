// Speed against work per HBM byte, both logarithmic. `ceilings` are {label, tflops}, `bandwidth` is in TB/s; rows have
// what, flop_per_byte, tflops and is_reference. Points carry the numbers of the list below them.

charts.roofline = (plot, spec, width) => {
  const height = Math.round(Math.min(420, Math.max(280, width * 0.5)));
  const margin = {left: 46, right: 12, top: 12, bottom: 40};
  const ridges = spec.ceilings.map(ceiling => ceiling.tflops / spec.bandwidth);
  const xs = spec.rows.map(row => row.flop_per_byte).concat(ridges);
  const ys = spec.rows.map(row => row.tflops).concat(spec.ceilings.map(ceiling => ceiling.tflops));
  const x = d3.scaleLog().domain([d3.min(xs) / 3, d3.max(xs) * 3]).range([margin.left, width - margin.right]);
  const y = d3.scaleLog().domain([d3.min(ys) / 3, d3.max(ys) * 2]).range([height - margin.bottom, margin.top]);
  const powers = scale => d3.range(Math.ceil(Math.log10(scale.domain()[0])), Math.floor(Math.log10(scale.domain()[1])) + 1)
      .map(power => Math.pow(10, power));

  const svg = addDrawing(plot, spec, width, height);
  svg.append('g').attr('class', 'axis').attr('transform', `translate(0, ${height - margin.bottom})`)
      .call(d3.axisBottom(x).tickValues(powers(x)).tickFormat(d3.format('~r')));
  svg.append('g').attr('class', 'axis').attr('transform', `translate(${margin.left}, 0)`)
      .call(d3.axisLeft(y).tickValues(powers(y)).tickFormat(d3.format('~r')));
  svg.append('text').attr('class', 'label').attr('x', width - margin.right).attr('y', height - 6)
      .attr('text-anchor', 'end').text('FLOP per HBM byte');
  svg.append('text').attr('class', 'label').attr('x', margin.left + 6).attr('y', margin.top + 8).text('TFLOP/s');

  // Where the slope meets the edges of the drawing and the highest ceiling.
  const begin = Math.max(x.domain()[0], y.domain()[0] / spec.bandwidth);
  svg.append('line').attr('class', 'ceiling').attr('x1', x(begin)).attr('y1', y(begin * spec.bandwidth))
      .attr('x2', x(d3.max(ridges))).attr('y2', y(d3.max(ridges) * spec.bandwidth));
  spec.ceilings.forEach((ceiling, index) => {
    svg.append('line').attr('class', 'ceiling').attr('x1', x(ridges[index])).attr('x2', width - margin.right)
        .attr('y1', y(ceiling.tflops)).attr('y2', y(ceiling.tflops));
    // Below the line where a point is in the way above it.
    const inTheWay = spec.rows.some(row => {
      const above = y(ceiling.tflops) - y(row.tflops);
      return x(row.flop_per_byte) > width - margin.right - textWidth(ceiling.label) - 12 && above > -12 && above < 30;
    });
    svg.append('text').attr('class', 'label').attr('x', width - margin.right).attr('y', y(ceiling.tflops) + (inTheWay ? 24 : -6))
        .attr('text-anchor', 'end').text(ceiling.label);
  });
  // Points of equal speed belong together: the same work over counted and over compulsory bytes.
  const bySpeed = d3.nest().key(row => row.tflops).entries(spec.rows);
  bySpeed.filter(entry => entry.values.length > 1).forEach(entry => {
    const [least, most] = d3.extent(entry.values, row => row.flop_per_byte);
    svg.append('line').attr('class', 'tie').attr('x1', x(least)).attr('x2', x(most))
        .attr('y1', y(entry.values[0].tflops)).attr('y2', y(entry.values[0].tflops));
  });
  // References lie below, should they meet what was counted.
  const numbered = spec.rows.map((row, index) => Object.assign({number: index + 1}, row));
  const points = svg.selectAll('g.point').data(numbered.sort((a, b) => b.is_reference - a.is_reference)).join('g').attr('class', 'point')
      .attr('transform', row => `translate(${x(row.flop_per_byte)}, ${y(row.tflops)})`);
  points.append('circle').attr('class', row => `mark ${row.is_reference ? 'hollow' : 'accent'}`).attr('r', 9)
      .append('title').text(row => row.what);
  points.append('text').attr('class', row => row.is_reference ? 'number-hollow' : 'number')
      .attr('text-anchor', 'middle').attr('y', 4).text(row => row.number);
  plot.append('ol').attr('class', 'points').attr('aria-hidden', 'true').selectAll('li').data(spec.rows).join('li')
      .text(row => `${row.what}: ${show(row.tflops, 'number')} TFLOP/s at ${show(row.flop_per_byte, 'number')} FLOP per byte`);
};
