// Text of charts: how wide it is, and what it says to those who do not see the drawing.

const ruler = document.createElement('canvas').getContext('2d');
const textWidth = text => {
  ruler.font = '13px system-ui, sans-serif';
  return ruler.measureText(text).width;
};
const widest = texts => d3.max(texts, textWidth) || 0;

// Cuts a text that is wider than there is room.
const fitted = (text, width) => {
  if (textWidth(text) <= width) return text;
  let length = text.length;
  while (length > 1 && textWidth(`${text.slice(0, length)}\u2026`) > width) length -= 1;
  return `${text.slice(0, length)}\u2026`;
};

// The drawing in words: its title and what its first rows say.
const describe = spec => {
  const kMost = 16;
  const shown = spec.columns.filter(column => column.format !== 'yes_no');
  const sayRow = row => shown.map((column, index) =>
      index === 0 ? showCell(spec, row, column.key) : `${column.label} ${showCell(spec, row, column.key)}`).join(', ');
  const rest = spec.rows.length - kMost;
  return `${spec.title}. ${spec.rows.slice(0, kMost).map(sayRow).join('; ')}` +
      `${rest > 0 ? `; and ${rest} more rows, all in the table below` : ''}.`;
};
