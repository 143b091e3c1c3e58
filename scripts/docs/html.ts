/**
 * Text as HTML, and the paths between pages of the site.
 *
 * Rule: everything that is no markup of this folder passes `escaped`.
 */

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

export const code = (text: string): string => `<code>${escaped(text)}</code>`

/** From one page of the site to another file of it, both from the root without a slash before them. */
export function relativePath(from: string, to: string): string {
  const up = '../'.repeat(from.split('/').length - 1)
  return `${up}${to}` || './'
}

/** The name of a heading in a link, as hosts of repositories make it. `taken`: of the same page; it is added there. */
export function anchorOf(heading: string, taken: Set<string>): string {
  const plain = heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
  let anchor = plain
  for (let n = 1; taken.has(anchor); n++) anchor = `${plain}-${n}`
  taken.add(anchor)
  return anchor
}

export interface Heading {
  readonly level: number
  readonly text: string
  readonly anchor: string
}

/** What a page says below one of its headings, as plain text. */
export interface Part {
  /** '' for what stands above the first heading. */
  readonly anchor: string
  readonly heading: string
  readonly text: string
}

/** A page without its frame. */
export interface PageContent {
  readonly title: string
  readonly html: string
  readonly headings: readonly Heading[]
  readonly parts: readonly Part[]
}

/** Collects a page that a program writes heading by heading. */
export class PageWriter {
  readonly #title: string
  readonly #html: string[] = []
  readonly #headings: Heading[] = []
  readonly #parts: { anchor: string; heading: string; text: string }[]
  readonly #taken = new Set<string>()

  constructor(title: string) {
    this.#title = title
    this.#html.push(headingHtml({ level: 1, text: title, anchor: anchorOf(title, this.#taken) }))
    this.#parts = [{ anchor: '', heading: title, text: '' }]
  }

  heading(level: number, text: string): void {
    const heading = { level, text, anchor: anchorOf(text, this.#taken) }
    this.#html.push(headingHtml(heading))
    this.#headings.push(heading)
    this.#parts.push({ anchor: heading.anchor, heading: text, text: '' })
  }

  /** `text`: what of it can be found. */
  add(html: string, text = ''): void {
    this.#html.push(html)
    const part = this.#parts.at(-1)
    if (part !== undefined && text !== '') part.text = `${part.text} ${text}`.trim()
  }

  content(): PageContent {
    const html = this.#html.join('\n')
    return { title: this.#title, html, headings: this.#headings, parts: this.#parts }
  }
}

/** `inner`: the text as HTML, when it has markup. */
export function headingHtml({ level, text, anchor }: Heading, inner: string = escaped(text)): string {
  const link = `<a class="anchor" href="#${escaped(anchor)}" aria-label="Link to ${escaped(text)}">#</a>`
  return `<h${level} id="${escaped(anchor)}">${inner} ${link}</h${level}>`
}

/** `rows` are HTML. */
export function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = names.map((name) => `<th>${escaped(name)}</th>`).join('')
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>`
}
