(() => {
    "use strict";
    const bar = document.querySelector(".nd-answers");
    if (!bar) { return; }
    const asked = [...document.querySelectorAll(".nd-answer")];
    const [count, save, text] = ["output", "button", "pre"].map(name => bar.querySelector(name));
    let saved = "";
    // The ids are written as COPY reads them already.
    const line = pair => {
        const chosen = pair.querySelector("input:checked");
        return chosen ? `${pair.dataset.a}\t${pair.dataset.b}\t${chosen.value}\n` : "";
    };
    const answers = () => asked.map(line).join("");
    const show = () => {
        text.textContent = answers();
        const given = asked.filter(line).length;
        count.textContent = `${given} of ${asked.length} ${asked.length === 1 ? "pair" : "pairs"} answered`;
        save.disabled = given === 0;
    };
    document.addEventListener("change", event => { if (event.target.closest(".nd-answer")) { show(); } });
    save.addEventListener("click", () => {
        saved = answers();
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([saved], { type: "text/tab-separated-values" }));
        link.download = "answers.tsv";
        link.click();
    });
    addEventListener("beforeunload", event => { if (answers() !== saved) { event.preventDefault(); } });
    [...asked, bar].forEach(element => { element.hidden = false; });
    show();
})();