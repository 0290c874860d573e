// What happened when: a lane for each value of the `lanes` columns, spans from start_cycles to end_cycles in it. With
// `state` spans are coloured by that column, otherwise neighbours alternate.

charts.lanes = (plot, spec, width) => {
  const laneOf = row => spec.lanes.map(key => row[key]).join('/');
  const lanes = d3.nest().key(laneOf).entries(spec.rows);
  const states = spec.state ? d3.nest().key(row => row[spec.state]).entries(spec.rows).map(entry => entry.key) : [];
  const laneHeight = lanes.length > 64 ? 4 : lanes.length > 24 ? 8 : 18;
  const every = Math.ceil(14 / laneHeight);
  const labelWidth = widest(lanes.map(lane => `${spec.lane_label} ${lane.key}`)) + 10;
  const axisHeight = 34;
  const x = d3.scaleLinear()
      .domain([d3.min(spec.rows, row => row.start_cycles), d3.max(spec.rows, row => row.end_cycles)])
      .range([labelWidth, width - 12]);

  if (states.length) addLegend(plot, states.map((state, index) => [`series-${index % 6}`, state]));
  const bottom = lanes.length * laneHeight;
  const svg = addDrawing(plot, spec, width, bottom + axisHeight);
  const groups = svg.selectAll('g').data(lanes).join('g')
      .attr('transform', (lane, index) => `translate(0, ${index * laneHeight})`);
  groups.filter((lane, index) => index % every === 0).append('text').attr('class', 'label small')
      .attr('x', labelWidth - 8).attr('y', Math.max(10, laneHeight - 5)).attr('text-anchor', 'end')
      .text(lane => `${spec.lane_label} ${lane.key}`);
  groups.selectAll('rect').data(lane => lane.values).join('rect')
      .attr('class', (row, index) => `mark series-${spec.state ? states.indexOf(String(row[spec.state])) % 6 : (index % 2) * 3}`)
      .attr('x', row => x(row.start_cycles)).attr('y', 0.5).attr('height', laneHeight - 1)
      .attr('width', row => Math.max(0.5, x(row.end_cycles) - x(row.start_cycles)))
      .append('title').text(row => spec.columns.map(column => `${column.label} ${showCell(spec, row, column.key)}`).join(', '));
  svg.append('g').attr('class', 'axis').attr('transform', `translate(0, ${bottom + 2})`)
      .call(d3.axisBottom(x).ticks(width < 480 ? 3 : 8).tickFormat(d3.format('~s')));
  svg.append('text').attr('class', 'label small').attr('x', width - 12).attr('y', bottom + axisHeight - 2)
      .attr('text-anchor', 'end').text('cycles');
};
