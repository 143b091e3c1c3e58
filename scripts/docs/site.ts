/**
 * The whole documentation as files: documents, the references of commands and APIs, diagrams, the search, and what a page needs to be shown.
 *
 * Rules: it reads the repository and writes nothing; equal sources give equal files; a link into the site that leads nowhere is an error.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { buildSync } from 'esbuild'
import { openApiText } from '../../src/api/server/openapi-documents.ts'
import type { SiteFile } from '../../src/api/pages/site-archive.ts'
import { VERSION } from '../../src/base/version.ts'
import { apiPages, type ApiDocument } from './api-pages.ts'
import { commandPages } from './command-pages.ts'
import { deadLinks } from './dead-links.ts'
import { diagramSvg } from './diagram.ts'
import { escaped, type PageContent, PageWriter, relativePath } from './html.ts'
import { framedPage, type Frame } from './layout.ts'
import { markdownPage } from './markdown.ts'
import { searchIndex } from './search-index.ts'
import { assetsOf, read, type SectionId, SECTIONS, sitePath, type Source, sourcesOf } from './sources.ts'

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  webp: 'image/webp',
  txt: 'text/plain; charset=utf-8',
}

export type Site = ReadonlyMap<string, SiteFile>

interface Page {
  readonly section: SectionId | null
  readonly content: PageContent
}

/** Throws when a document cannot be shown, or links to what is not there. */
export function documentationSite(root: string): Site {
  const assets = new Map<string, string | Buffer>()
  const pages = allPages(root, assets)
  const contents = new Map([...pages].map(([path, { content }]) => [path, content]))
  const files = frameFiles(root, assets, searchIndex(contents))
  const site = new Map<string, SiteFile>()
  const put = (path: string, bytes: string | Buffer): void => {
    site.set(path, { type: typeOf(path), bytes: Buffer.from(bytes) })
  }
  for (const [path, { section, content }] of pages) {
    const siblings = [...pages]
      .filter(([, page]) => page.section === section && section !== null)
      .map(([place, page]) => ({ path: place, title: page.content.title }))
    put(path, framedPage({ path, section, content, siblings, files, version: VERSION }))
  }
  for (const [path, bytes] of assets) put(path, bytes)
  const dead = deadLinks(site)
  if (dead.length > 0) throw new Error(`Links of the documentation lead nowhere:\n${dead.join('\n')}`)
  return site
}

function typeOf(path: string): string {
  const type = TYPES[path.slice(path.lastIndexOf('.') + 1)]
  if (type === undefined) throw new Error(`A file of the site has no media type: ${path}`)
  return type
}

function allPages(root: string, assets: Map<string, string | Buffer>): ReadonlyMap<string, Page> {
  const sources = sourcesOf(root)
  const handedOn = assetsOf(root)
  for (const [file, path] of handedOn) assets.set(path, readFileSync(join(root, file)))
  const targets = new Map([...handedOn, ...sources.map(({ file, path }) => [file, path] as const)])
  for (const { section, file } of sources) {
    const folder = dirname(file)
    const overview = SECTIONS.find(({ id }) => id === section)?.path ?? ''
    // A link to a folder leads to the overview of its part.
    if (folder !== '.' && !targets.has(folder) && dirname(overview) !== '.') targets.set(folder, overview)
  }
  const pages = new Map<string, Page>()
  for (const source of sources)
    pages.set(source.path, { section: source.section, content: documentPage(root, source, targets, assets) })
  for (const [path, content] of commandPages()) pages.set(path, { section: 'commands', content })
  const planes = (['data', 'admin'] as const).map((name) => ({
    name,
    document: JSON.parse(openApiText(name)) as ApiDocument,
  }))
  for (const [path, content] of apiPages(planes)) pages.set(path, { section: 'api', content })
  for (const { id, title, about, path } of SECTIONS)
    if (!pages.has(path))
      pages.set(path, { section: id, content: overviewPage({ id, title, about, path }, pages) })
  pages.set('index.html', { section: null, content: homePage() })
  return pages
}

function documentPage(
  root: string,
  { file, path }: Source,
  targets: ReadonlyMap<string, string>,
  assets: Map<string, string | Buffer>,
): PageContent {
  let diagrams = 0
  return markdownPage({
    text: read(root, file),
    resolve: (href) => {
      if (/^https?:/.test(href)) return href
      const [target = '', anchor] = href.split('#')
      const tail = anchor === undefined ? '' : `#${anchor}`
      if (target === '') return tail
      const named = posix.join(dirname(file), target).replace(/\/$/, '')
      const place = targets.get(named)
      return place === undefined ? null : `${relativePath(path, place)}${tail}`
    },
    keepDiagram: (text) => {
      const place = `diagrams/${sitePath(file)
        .replaceAll('/', '-')
        .replace(/\.html$/, '')}-${++diagrams}.svg`
      assets.set(place, diagramSvg(text))
      return relativePath(path, place)
    },
  })
}

function overviewPage(section: (typeof SECTIONS)[number], pages: ReadonlyMap<string, Page>): PageContent {
  const writer = new PageWriter(section.title)
  writer.add(`<p>${escaped(section.about)}.</p>`, section.about)
  const rows = [...pages]
    .filter(([, page]) => page.section === section.id)
    .map(
      ([path, { content }]) =>
        `<li><a href="${relativePath(section.path, path)}">${escaped(content.title)}</a></li>`,
    )
  writer.add(`<ul>${rows.join('\n')}</ul>`)
  return writer.content()
}

function homePage(): PageContent {
  const writer = new PageWriter('Documentation')
  const what =
    'A private, multi-tenant object store for three or more ordinary machines: replicated, encrypted, deduplicated, self-healing.'
  writer.add(`<p>${escaped(what)}</p>`, what)
  const cards = SECTIONS.map(
    ({ title, about, path }) =>
      `<li><a href="${path}"><b>${escaped(title)}</b></a><p>${escaped(about)}</p></li>`,
  )
  writer.add(`<ul class="cards">${cards.join('\n')}</ul>`)
  return writer.content()
}

/** Style, script, index and icon; names change with their bytes, so that they can be kept by browsers. */
function frameFiles(root: string, assets: Map<string, string | Buffer>, index: string): Frame['files'] {
  const folder = join(import.meta.dirname, 'browser')
  const keep = (name: string, ending: string, bytes: string | Buffer): string => {
    const path = `assets/${name}.${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.${ending}`
    assets.set(path, bytes)
    return path
  }
  assets.set('licence.txt', readFileSync(join(root, 'LICENSE')))
  return {
    style: keep('style', 'css', readFileSync(join(folder, 'style.css'))),
    script: keep('search', 'js', pageScript(root, folder)),
    index: keep('search-index', 'json', index),
    icon: keep('icon', 'svg', readFileSync(join(folder, 'icon.svg'))),
  }
}

/** With the licence of the package inside. */
function pageScript(root: string, folder: string): string {
  const licence = readFileSync(join(root, 'node_modules', 'minisearch', 'LICENSE.txt'), 'utf8').trim()
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: [join(folder, 'search.ts')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    banner: { js: `/*! MiniSearch\n${licence}\n*/` },
    legalComments: 'none',
    logLevel: 'error',
    write: false,
  })
  return outputFiles.map(({ text }) => text).join('')
}
