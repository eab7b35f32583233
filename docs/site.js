// What scrolls can be reached by the keyboard, and what a screen reader announces has a name.
const reachable = () => {
  for (const box of document.querySelectorAll("pre > code, .md-typeset__scrollwrap, .formula, dd"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  document.querySelectorAll(".md-code__nav").forEach((nav, number) => {
    nav.ariaLabel ||= `Code ${number + 1}`;
  });
  document.querySelector(".md-search").ariaLabel = "Search";
};
new MutationObserver(reachable).observe(document.body, { childList: true, subtree: true });
reachable();
