/** Says something to screen readers through the page's live region. */
export function announce(text: string): void {
    const region = document.getElementById("announcer");
    if (!region) return;
    region.textContent = "";
    window.setTimeout(() => {
        region.textContent = text;
    }, 50);
}
