// What happened when: a lane for each value of the `lanes` columns, spans from start_cycles to end_cycles in it. With
// `state` spans are coloured by that column: in the order of `states`, up to six, or of the five most frequent values.
// Without it neighbours alternate.

charts.lanes = (plot, spec, width) => {
  const lanes = d3.nest().key(row => spec.lanes.map(key => row[key]).join('/')).entries(spec.rows);
  const kMost = 5;
  const frequent = spec.states ? spec.states.filter(state => spec.rows.some(row => row[spec.state] === state)) : spec.state ? d3.nest().key(row => row[spec.state]).entries(spec.rows)
      .sort((a, b) => b.values.length - a.values.length).map(entry => entry.key) : [];
  const shade = (row, index) => {
    const place = (spec.states || frequent).indexOf(String(row[spec.state]));
    return `series-${spec.state ? Math.min(place, kMost) : (index % 2) * 3}`;
  };
  const laneHeight = lanes.length > 160 ? 2 : lanes.length > 64 ? 4 : lanes.length > 24 ? 8 : 18;
  // Where a unit has several lanes that are too thin for a name each, it has its name once.
  const nameOf = lane => `${spec.lane_label} ${laneHeight < 12 ? lane.key.split('/')[0] : lane.key}`;
  const labelWidth = widest(lanes.map(nameOf)) + 10;
  const axisHeight = 34;
  const x = d3.scaleLinear()
      .domain([d3.min(spec.rows, row => row.start_cycles), d3.max(spec.rows, row => row.end_cycles)])
      .range([labelWidth, width - 22]);
  let free = 0;
  const named = lanes.map((lane, index) => {
    const isNamed = index * laneHeight >= free && (index === 0 || nameOf(lane) !== nameOf(lanes[index - 1]));
    if (isNamed) free = index * laneHeight + 14;
    return isNamed;
  });

  if (spec.states) {
    addLegend(plot, frequent.map(state => [`series-${spec.states.indexOf(state)}`, state]));
  } else if (frequent.length) {
    addLegend(plot, frequent.slice(0, kMost).map((state, index) => [`series-${index}`, state])
        .concat(frequent.length > kMost ? [[`series-${kMost}`, 'others']] : []));
  }
  const bottom = lanes.length * laneHeight;
  const svg = addDrawing(plot, spec, width, bottom + axisHeight);
  const groups = svg.selectAll('g').data(lanes).join('g')
      .attr('transform', (lane, index) => `translate(0, ${index * laneHeight})`);
  groups.filter((lane, index) => named[index]).append('text').attr('class', 'label small')
      .attr('x', labelWidth - 8).attr('y', Math.max(9, laneHeight - 5)).attr('text-anchor', 'end').text(nameOf);
  groups.selectAll('rect').data(lane => lane.values).join('rect')
      .attr('class', (row, index) => `mark ${shade(row, index)}`)
      .attr('x', row => x(row.start_cycles)).attr('y', 0).attr('height', laneHeight < 8 ? laneHeight - 0.5 : laneHeight - 2)
      .attr('width', row => Math.max(0.5, x(row.end_cycles) - x(row.start_cycles)))
      .append('title').text(row => spec.columns.map(column => `${column.label} ${showCell(spec, row, column.key)}`).join(', '));
  svg.append('g').attr('class', 'axis').attr('transform', `translate(0, ${bottom + 2})`)
      .call(d3.axisBottom(x).ticks(width < 480 ? 3 : 8).tickFormat(d3.format('~s')));
  svg.append('text').attr('class', 'label small').attr('x', width - 22).attr('y', bottom + axisHeight - 2)
      .attr('text-anchor', 'end').text('cycles');
};
