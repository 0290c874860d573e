'use strict';
// Numbers for people, by the formats of columns.

const unitOf = (value, units) => units.find(([size]) => Math.abs(value) >= size) || units[units.length - 1];
const scaled = (value, units) => {
  const [size, name] = unitOf(value, units);
  return `${d3.format(',.4~g')(value / size)} ${name}`;
};
const minus = text => text.replace('\u2212', '-').replace('-', '\u2212');

const formats = {
  number: value => value !== 0 && Math.abs(value) < 0.005 ? (value < 0 ? '> -0.01' : '< 0.01') :
      d3.format(Math.abs(value) >= 100 ? ',.0f' : Math.abs(value) >= 10 ? '.1f' : '.2f')(value),
  count: value => Math.abs(value) >= 1e7 ? scaled(value, [[1e9, 'G'], [1e6, 'M']]) : d3.format(',.0f')(value),
  percent: value => `${d3.format('.1f')(100 * value)} %`,
  change: value => `${d3.format('+.1f')(100 * value)} %`,
  factor: value => `${d3.format('.2f')(value)}\u00d7`,
  tflops: value => `${d3.format('.0f')(value)} TFLOP/s`,
  time: value => value >= 1e4 ? `${d3.format('.2f')(value / 1e3)} ms` : `${d3.format(',.1f')(value)} us`,
  bytes: value => value === 0 ? '0' : scaled(value, [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'KB'], [1, 'B']]),
  cycles: value => d3.format(',.0f')(value),
  yes_no: value => value ? 'yes' : 'no',
};

// Nothing is shown as a dash, so that it is not taken for zero.
const show = (value, format) =>
    value === null || value === undefined ? '\u2013' : format === 'text' ? value : minus(formats[format](value));

const columnOf = (spec, key) => spec.columns.find(column => column.key === key);
const showCell = (spec, row, key) => show(row[key], columnOf(spec, key).format);
