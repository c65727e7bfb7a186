// A field above the table that follows: rows without the words disappear.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".filter")) {
    const rows = [...document.querySelectorAll("table tbody tr")].filter(
      (row) => place.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = "filter, e.g. Reduce";
    field.setAttribute("aria-label", "filter the table");
    const count = document.createElement("output");
    const show = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = `${shown} of ${rows.length} names`;
    };
    field.addEventListener("input", show);
    place.append(field, count);
    show();
  }
});
