/**
 * A Markdown document as a page: HTML, its headings, and its text in parts for the search.
 *
 * Knows nothing of: where links lead; it asks. Rules: HTML in a document is shown as text and never passed on; a link without a target in the
 * site becomes its text.
 */
import { Marked, type Token, type Tokens } from 'marked'
import { anchorOf, escaped, type Heading, headingHtml, type PageContent, type Part } from './html.ts'

export interface MarkdownParts {
  readonly text: string
  /** Where a link of the document leads in the site; null: to nothing there. */
  readonly resolve: (href: string) => string | null
  /** Keeps the diagram and returns where its image lies, seen from the page. */
  readonly keepDiagram: (text: string) => string
}

/** Throws when the document has no heading of the first level. */
export function markdownPage({ text, resolve, keepDiagram }: MarkdownParts): PageContent {
  const marked = new Marked()
  const tokens = marked.lexer(text)
  const headings = headingsOf(tokens)
  const title = [...headings.values()].find(({ level }) => level === 1)
  if (title === undefined) throw new Error('A document begins with a heading: # Title')
  marked.use({
    renderer: {
      heading(token) {
        const heading = headings.get(token)
        return heading === undefined ? '' : `${headingHtml(heading, this.parser.parseInline(token.tokens))}\n`
      },
      code: ({ text: block, lang = '' }) =>
        lang === 'mermaid' ? diagramHtml(block, keepDiagram(block)) : blockHtml(block, lang),
      html: ({ text: html }) => escaped(html),
      link({ href, tokens: inner }) {
        return linkHtml(resolve(href), this.parser.parseInline(inner))
      },
      image({ href, text: alt }) {
        const place = resolve(href)
        return place === null ? escaped(alt) : `<img src="${escaped(place)}" alt="${escaped(alt)}">`
      },
      table(token) {
        return tableHtml(token, (cell) => this.parser.parseInline(cell.tokens))
      },
    },
  })
  const html = marked.parser(tokens)
  return {
    title: title.text,
    html,
    headings: [...headings.values()].slice(1),
    parts: partsOf(tokens, headings),
  }
}

function headingsOf(tokens: readonly Token[]): ReadonlyMap<Token, Heading> {
  const taken = new Set<string>()
  const found = new Map<Token, Heading>()
  for (const token of tokens) {
    if (!isHeading(token)) continue
    const text = plainText(token)
    found.set(token, { level: token.depth, text, anchor: anchorOf(text, taken) })
  }
  return found
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'

/** Its words, without marks. */
function plainText(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].flatMap((row) => row.map(({ tokens }) => plainTexts(tokens))).join(' ')
  }
  if (token.type === 'list')
    return (token as Tokens.List).items.map((item) => plainTexts(item.tokens)).join(' ')
  if ('tokens' in token && token.tokens !== undefined) return plainTexts(token.tokens)
  return 'text' in token ? String(token.text) : ''
}

const plainTexts = (tokens: readonly Token[]): string => tokens.map(plainText).join('')

function partsOf(tokens: readonly Token[], headings: ReadonlyMap<Token, Heading>): readonly Part[] {
  const parts: { anchor: string; heading: string; text: string }[] = []
  for (const token of tokens) {
    const heading = headings.get(token)
    const last = parts.at(-1)
    if (heading !== undefined)
      parts.push({ anchor: parts.length === 0 ? '' : heading.anchor, heading: heading.text, text: '' })
    else if (last !== undefined && token.type !== 'space')
      last.text = `${last.text} ${plainText(token)}`.trim()
  }
  return parts
}

function blockHtml(text: string, lang: string): string {
  const [name = '', machine = ''] = lang.split(' ')
  const where = machine === '' ? '' : `<span class="machine">on ${escaped(machine)}</span>`
  const kind = /^\w+$/.test(name) ? ` class="${name}"` : ''
  return `<div class="block">${where}<pre${kind}><code>${escaped(text)}\n</code></pre></div>\n`
}

function diagramHtml(text: string, place: string): string {
  const source = `<details><summary>The diagram as text</summary><pre><code>${escaped(text)}</code></pre></details>`
  return `<figure><img src="${escaped(place)}" alt="Diagram; its text follows">${source}</figure>\n`
}

function linkHtml(place: string | null, inner: string): string {
  if (place === null) return `<span class="file">${inner}</span>`
  const isElsewhere = /^[a-z]+:/.test(place)
  return `<a href="${escaped(place)}"${isElsewhere ? ' rel="noreferrer"' : ''}>${inner}</a>`
}

function tableHtml({ header, rows }: Tokens.Table, inner: (cell: Tokens.TableCell) => string): string {
  const cell = (name: 'td' | 'th', one: Tokens.TableCell): string => {
    const side = one.align === null ? '' : ` class="${one.align}"`
    return `<${name}${side}>${inner(one)}</${name}>`
  }
  const head = header.map((one) => cell('th', one)).join('')
  const body = rows.map((row) => `<tr>${row.map((one) => cell('td', one)).join('')}</tr>`).join('\n')
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>\n`
}
