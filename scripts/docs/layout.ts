/**
 * The frame of each page: head, search, sections, contents of the page.
 *
 * Rules: no script and no style stands in a page, so that its policy can refuse them; without scripts everything but the search works.
 */
import { escaped, type PageContent, relativePath } from './html.ts'
import { type Section, type SectionId, SECTIONS } from './sources.ts'

/** The policy that the page itself states, for hosts that send no header. A node sends one besides. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"

export interface Frame {
  readonly path: string
  readonly section: SectionId | null
  readonly content: PageContent
  /** Of the same section, in order. */
  readonly siblings: readonly { readonly path: string; readonly title: string }[]
  /** Where the files of the frame lie. */
  readonly files: {
    readonly style: string
    readonly script: string
    readonly index: string
    readonly icon: string
  }
  readonly version: string
}

export function framedPage(frame: Frame): string {
  const { path, content, files, version } = frame
  const to = (file: string): string => escaped(relativePath(path, file))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${PAGE_POLICY}">
<meta name="color-scheme" content="light dark">
<title>${escaped(content.title)} · Holdfast</title>
<link rel="icon" href="${to(files.icon)}" type="image/svg+xml">
<link rel="stylesheet" href="${to(files.style)}">
<script src="${to(files.script)}" data-index="${to(files.index)}" data-root="${to('')}" defer></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="name" href="${to('index.html')}">Holdfast</a>
<div class="search" role="search" hidden>
<input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false">
<ol aria-live="polite" hidden></ol>
</div>
</header>
<div class="columns">
<nav aria-label="Sections"><details class="menu"><summary>Sections</summary>
${sectionList(frame)}
</details></nav>
<main id="content">
${contentsOf(content)}
${content.html}
</main>
</div>
<footer>Holdfast ${escaped(version)}. <a href="${to('licence.txt')}">Apache-2.0</a></footer>
</body>
</html>
`
}

function sectionList({ path, section, siblings }: Frame): string {
  const rows = SECTIONS.map((one) => {
    const link = linkTo(path, one.path, one.title)
    return `<li>${link}${one.id === section ? siblingList(path, one, siblings) : ''}</li>`
  })
  return `<ul>${rows.join('\n')}</ul>`
}

function siblingList(path: string, { path: overview }: Section, siblings: Frame['siblings']): string {
  const rows = siblings
    .filter((page) => page.path !== overview)
    .map((page) => `<li>${linkTo(path, page.path, page.title)}</li>`)
  return `<ul>${rows.join('\n')}</ul>`
}

function linkTo(from: string, to: string, title: string): string {
  const current = from === to ? ' aria-current="page"' : ''
  return `<a href="${escaped(relativePath(from, to))}"${current}>${escaped(title)}</a>`
}

const CONTENTS_MIN = 3

function contentsOf({ headings }: PageContent): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < CONTENTS_MIN) return ''
  const rows = shown.map(
    ({ level, anchor, text }) =>
      `<li class="level${level}"><a href="#${escaped(anchor)}">${escaped(text)}</a></li>`,
  )
  return `<details class="contents"><summary>On this page</summary><ul>${rows.join('\n')}</ul></details>`
}
