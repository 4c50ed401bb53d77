/** What a bill lacks, in words that hold where the page is. */

/**
 * Without the part that names an option of the command, "pass --instance TYPE": who reads a page has typed no command.
 * Empty where nothing else is said.
 */
export function withoutOptions(text: string): string {
    const option = text.search(/--[a-z]/);
    if (option < 0) return text;
    const end = Math.max(...[": ", "; ", ". ", " ("].map((mark) => text.lastIndexOf(mark, option)));
    return text.slice(0, Math.max(0, end));
}
