// Lines in panels: rows have panel, series, x, y and is_reference. `x_ticks` are [x, text]; `linear_x` and `linear_y`
// make an axis linear. `colours` are {series: [of its points, of its line]}; where they differ, the line is dashed.

charts.lines = (plot, spec, width) => {
  const panels = d3.nest().key(row => row.panel).entries(spec.rows);
  const series = d3.nest().key(row => row.series).entries(spec.rows)
      .map(entry => ({name: entry.key, isReference: entry.values[0].is_reference}));
  const counted = series.filter(one => !one.isReference);
  const style = name => {
    const index = counted.findIndex(one => one.name === name);
    // One or two lines have the colours that are told apart best.
    return index < 0 ? 'line-reference' : `line-${counted.length < 3 ? 2 - 2 * index : index % 6}`;
  };
  const colours = spec.colours || {};
  const fill = name => colours[name] ? colours[name][0] : null;
  const stroke = name => colours[name] ? colours[name][1] : null;
  const isDashed = name => fill(name) !== stroke(name);
  addLegend(plot, series.map(one => [`stroke ${style(one.name)}`, one.isReference ? `reference: ${one.name}` : one.name]),
      entry => stroke(entry[1]) && `${isDashed(entry[1]) ? 'dashed' : 'solid'} ${stroke(entry[1])}`);
  const columns = width > 620 && panels.length > 1 ? 2 : 1;
  const panelWidth = Math.floor((width - (columns - 1) * 16) / columns);
  const height = 240;
  const margin = {left: 52, right: 10, top: 26, bottom: 40};
  const values = spec.rows.filter(row => row.y !== null && (spec.linear_y || row.y > 0));
  const yDomain = spec.linear_y ? [0, d3.max(values, row => row.y)] : d3.extent(values, row => row.y);
  const y = (spec.linear_y ? d3.scaleLinear() : d3.scaleLog()).domain(yDomain).nice()
      .range([height - margin.bottom, margin.top]);
  const x = (spec.linear_x ? d3.scaleLinear() : d3.scaleLog()).domain(d3.extent(spec.x_ticks, tick => tick[0]))
      .range([margin.left + 6, panelWidth - margin.right - 6]);
  const powers = y.ticks().filter(tick => Number.isInteger(Math.round(1e6 * Math.log10(tick)) / 1e6));
  const labels = new Map(spec.x_ticks);

  const grid = plot.append('div').attr('class', 'panels');
  panels.forEach(panel => {
    const svg = addDrawing(grid, Object.assign({}, spec, {title: `${spec.title}: ${panel.key}`, rows: panel.values}), panelWidth, height);
    svg.append('text').attr('class', 'panel-title').attr('x', margin.left).attr('y', 14).text(panel.key);
    svg.append('g').attr('class', 'axis').attr('transform', `translate(0, ${height - margin.bottom})`)
        .call(d3.axisBottom(x).tickValues(spec.x_ticks.map(tick => tick[0])).tickFormat(value => labels.get(value)));
    svg.append('g').attr('class', 'axis grid').attr('transform', `translate(${margin.left}, 0)`)
        .call(d3.axisLeft(y).tickValues(spec.linear_y || powers.length < 2 ? y.ticks(5) : powers)
            .tickFormat(d3.format('~s')).tickSizeInner(margin.left + margin.right - panelWidth));
    svg.append('text').attr('class', 'label small').attr('x', panelWidth - margin.right).attr('y', height - 6)
        .attr('text-anchor', 'end').text(`x: ${spec.x_label}, y: ${spec.y_label}`);
    d3.nest().key(row => row.series).entries(panel.values).forEach(one => {
      const points = one.values.filter(row => row.y !== null && (spec.linear_y || row.y > 0));
      svg.append('path').attr('class', `line ${style(one.key)}`).attr('d', d3.line().x(row => x(row.x)).y(row => y(row.y))(points))
          .style('stroke', stroke(one.key)).style('stroke-dasharray', isDashed(one.key) ? '5 4' : null);
      if (style(one.key) === 'line-reference') return;
      svg.append('g').selectAll('circle').data(points).join('circle').attr('class', `mark ${style(one.key)}`).attr('r', 3)
          .attr('cx', row => x(row.x)).attr('cy', row => y(row.y)).style('fill', fill(one.key)).style('stroke', stroke(one.key))
          .append('title').text(row => `${one.key}, ${labels.get(row.x) || row.x}: ${show(row.y, 'number')}`);
    });
  });
};
