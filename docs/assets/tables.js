// A table that is wider than its window shows each row as a list of its cells, with the headings beside them.
(() => {
  const label = (table) => {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.innerText.trim());
    for (const row of table.querySelectorAll("tbody tr"))
      [...row.cells].forEach((cell, at) => { cell.dataset.label = heads[at] || ""; });
  };
  const fit = () => {
    for (const table of document.querySelectorAll("article table:not([class]), article table.stacked")) {
      table.classList.remove("stacked");
      if (!table.classList.length) table.removeAttribute("class");
      const room = table.closest(".md-content__inner").clientWidth;
      if (table.scrollWidth <= room + 1) continue;
      label(table);
      table.className = "stacked";
    }
  };
  addEventListener("load", fit);
  addEventListener("resize", fit);
})();
