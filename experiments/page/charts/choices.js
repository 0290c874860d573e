// Charts of one setting among many, which the reader chooses: `selectors` are the lists, `charts` what is drawn of each
// setting, `settings` have their place in the lists, what is said about them, and the rows of the charts.

const addChoices = (container, choices) => {
  const root = d3.select(container);
  const form = root.append('div').attr('class', 'selectors');
  const said = root.append('div').attr('class', 'said').attr('aria-live', 'polite');
  const drawings = root.append('div').attr('class', 'drawings');
  const chosen = Object.assign({}, choices.settings[choices.first_shown].choice);

  const show_setting = () => {
    const setting = choices.settings.find(one => choices.selectors.every(list => one.choice[list.key] === chosen[list.key]));
    form.selectAll('select').property('value', list => chosen[list.key]);
    said.selectAll('*').remove();
    said.selectAll('p').data(setting.sentences).join('p').attr('class', 'sentence').text(text => text);
    drawings.selectAll('*').remove();
    choices.charts.forEach((chart, index) => {
      if (index === choices.texts_before) addTexts(setting);
      const rows = setting.rows[index];
      if (rows.length) {
        const place = drawings.append('div').attr('class', `chart ${chart.is_small ? 'small-chart' : ''}`);
        drawChart(place.node(), withRows(chart, rows));
      }
    });
  };
  const addTexts = setting => {
    drawings.append('h3').attr('class', 'wide').text(choices.texts_title);
    const items = drawings.append('ol').attr('class', 'texts wide').selectAll('li').data(setting.texts).join('li');
    items.append('strong').text(text => `${text.label}. `);
    items.append('span').text(text => text.text);
  };
  // What was chosen last stays; where nothing was simulated with the other choices, the nearest setting is shown.
  const choose = (key, value) => {
    const alike = one => d3.sum(choices.selectors, list => one.choice[list.key] === chosen[list.key] ? 1 : 0);
    chosen[key] = value;
    const legal = choices.settings.filter(one => one.choice[key] === value);
    const most = d3.max(legal, alike);
    Object.assign(chosen, legal.find(one => alike(one) === most).choice);
    show_setting();
  };

  const labels = form.selectAll('label').data(choices.selectors).join('label');
  labels.append('span').text(list => list.label);
  const selects = labels.append('select').attr('name', list => list.key)
      .on('change', function(list) { choose(list.key, this.value); });
  selects.selectAll('option').data(list => list.options).join('option')
      .attr('value', option => option.value).text(option => option.label);
  show_setting();
};
