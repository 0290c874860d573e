// Draws all charts of the page into their places.

const page = JSON.parse(document.getElementById('data').textContent);
document.querySelectorAll('[data-chart]').forEach(place => {
  const spec = page.charts[Number(place.dataset.chart)];
  drawChart(place, withRows(spec, spec.rows));
});
if (page.choices) addChoices(document.getElementById('choices'), page.choices);
