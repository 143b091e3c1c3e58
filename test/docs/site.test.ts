/**
 * The documentation as a site: every link and anchor leads somewhere, every command and operation has its place, pages hold to their policy.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import MiniSearch from 'minisearch'
import { SEARCH_OPTIONS } from '../../scripts/docs/browser/search-options.ts'
import { deadLinks } from '../../scripts/docs/dead-links.ts'
import { markdownPage } from '../../scripts/docs/markdown.ts'
import { schemaRows } from '../../scripts/docs/schema-rows.ts'
import { documentationSite } from '../../scripts/docs/site.ts'
import { sourcesOf } from '../../scripts/docs/sources.ts'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { packSite, SiteArchive } from '../../src/api/pages/site-archive.ts'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { programOf } from '../../src/cli/program.ts'
import { METRICS } from '../api/api-world.ts'

/** Of the archive that the package contains. */
const ARCHIVE_BYTES_MAX = 2_500_000

const site = documentationSite(ROOT)
const textOf = (path: string): string => site.get(path)?.bytes.toString() ?? ''
const pages = [...site.keys()].filter((path) => path.endsWith('.html'))

t.test('every internal link and anchor of the site leads somewhere', async (t) => {
  t.ok(pages.length > 150)
  t.same(deadLinks(site), [])
})

t.test('a link that leads nowhere is found', async (t) => {
  const one = (html: string, others: Record<string, string> = {}) =>
    deadLinks(
      new Map(
        Object.entries({ 'a/b.html': html, ...others }).map(([path, text]) => [
          path,
          { bytes: Buffer.from(text) },
        ]),
      ),
    )
  t.same(one('<a href="c.html">'), ['a/b.html: "c.html" is no file of the site'])
  t.same(one('<a href="c.html">', { 'a/c.html': '' }), [])
  t.same(one('<a href="#x">'), ['a/b.html: "#x" is no heading of its page'])
  t.same(one('<h2 id="x"><a href="#x">'), [])
  t.same(one('<img alt="" src="../x.svg">'), ['a/b.html: "../x.svg" is no file of the site'])
  t.same(one('<a class="k" href="../../x">'), ['a/b.html: "../../x" leaves the site'])
  t.same(one('<a href="../">', { 'index.html': '' }), [])
  t.same(one('<a href="https://example.com/">'), [])
})

t.test('every document, command and operation is in it', async (t) => {
  for (const { path } of sourcesOf(ROOT)) t.ok(site.has(path), path)
  for (const command of programOf(() => undefined).commands)
    if (command.name() !== '__complete') t.ok(site.has(`commands/${command.name()}.html`), command.name())
  const shown = pages
    .filter((path) => path.startsWith('api/'))
    .map(textOf)
    .join('\n')
  const routes = [...dataPlane.routes, ...adminPlane(METRICS).routes]
  for (const { operation } of routes) t.match(shown, `<h2 id="${operation.id.toLowerCase()}">`, operation.id)
})

t.test('every command that is named beside one of MinIO exists', async (t) => {
  const text = readFileSync(join(ROOT, 'docs/guide/moving-from-minio.md'), 'utf8')
  const [, rows = ''] = /^## Which command becomes which\n([\s\S]*?)^## /m.exec(text) ?? []
  const named = [...rows.matchAll(/^\|[^|]*\|([^|]*)\|$/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)])
    .map(([, words = '']) => words)
    .filter((words) => words !== 'holdfast' && words !== '-')
  t.ok(named.length > 30)
  t.same(
    named.filter((words) => !isCommand(words)),
    [],
  )
  t.notOk(isCommand('cluster drain'))
})

/** Words such as `bucket create`. */
function isCommand(words: string): boolean {
  const found = words.split(' ').reduce<Command | undefined>(
    (above, word) => above?.commands.find((command) => command.name() === word),
    programOf(() => undefined),
  )
  return found !== undefined
}

t.test('no page has a script, a style or an address of another host inside', async (t) => {
  for (const path of pages) {
    const html = textOf(path)
    t.notMatch(html, /<script(?![^>]*\ssrc=)|<style|<\w[^>]*\s(?:style|on\w+)="|="javascript:/i, path)
    t.notMatch(html, /<(?:script|link|img)\b[^>]*(?:src|href)="(?:https?:)?\/\//i, path)
    t.match(html, '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';', path)
  }
  for (const [path, { bytes }] of site)
    if (path.endsWith('.svg'))
      t.notMatch(
        bytes.toString().replaceAll('http://www.w3.org/2000/svg', ''),
        /https?:|@import|<script/,
        path,
      )
})

t.test('diagrams are images, with their text behind them', async (t) => {
  const diagrams = [...site.keys()].filter((path) => path.startsWith('diagrams/'))
  t.ok(diagrams.length >= 4)
  t.match(textOf('architecture.html'), /<img src="diagrams\/architecture-1\.svg"[^>]*><details>/)
  t.match(site.get('diagrams/architecture-1.svg')?.bytes.toString(), /prefers-color-scheme: dark/)
})

t.test('the index of the search finds headings and what stands below them', async (t) => {
  const path = [...site.keys()].find((name) => /search-index/.test(name)) ?? ''
  const index = MiniSearch.loadJSON(textOf(path), SEARCH_OPTIONS)
  const urls = (words: string): readonly string[] =>
    index
      .search(words, { prefix: true, combineWith: 'AND', boost: { heading: 4 } })
      .map(({ url }) => String(url))
  t.ok(urls('putObject').some((url) => url.startsWith('api/data-objects.html')))
  t.ok(urls('legal hold').some((url) => url.startsWith('guide/versions-and-locks.html')))
  t.same(urls('xyzzyplugh'), [])
})

t.test('the archive of the package holds the same files, and stays small', async (t) => {
  const bytes = packSite(site)
  t.same([...new SiteArchive(bytes).paths], [...site.keys()])
  t.comment(`${site.size} files, ${bytes.length} bytes`)
  t.ok(bytes.length < ARCHIVE_BYTES_MAX, `${bytes.length} bytes`)
})

t.test('Markdown', async (t) => {
  const page = (text: string) =>
    markdownPage({ text, resolve: (href) => (href === 'gone.ts' ? null : href), keepDiagram: () => 'd.svg' })
  t.match(page('# A\n\n<b onclick="x">no</b>\n\n<script>x</script>').html, /&#60;script&#62;/, 'HTML is text')
  t.notMatch(page('# A\n\nIn <i>a</i> line').html, /<i>/)
  t.match(page('# A\n\n[code](gone.ts)').html, '<span class="file">code</span>')
  t.match(page('# A\n\n## B `c`, d\n\n## B c d').headings, [{ anchor: 'b-c-d' }, { anchor: 'b-c-d-1' }])
  t.match(page('# A\n\n```sh n1\necho "1 < 2"\n```').html, /on n1<\/span>.*1 &#60; 2/)
  t.match(page('# A\n\none\n\n## B\n\n| c | d |\n|---|--:|\n| `e` | f |').parts, [
    { anchor: '', heading: 'A', text: 'one' },
    { anchor: 'b', heading: 'B', text: 'c d e f' },
  ])
  t.throws(() => page('No heading'), /begins with a heading/)
})

t.test('a schema is shown member by member, with what may be left out', async (t) => {
  const rows = schemaRows(
    {
      type: 'object',
      required: ['a'],
      properties: {
        a: {
          type: 'array',
          items: { type: 'object', properties: { b: { $ref: '#/components/schemas/B' } } },
        },
        c: { anyOf: [{ type: 'integer', minimum: 1, maximum: 9 }, { type: 'null' }], description: 'C' },
      },
    },
    (name) => `<a>${name}</a>`,
  )
  t.same(rows, [
    { name: 'a', isRequired: true, type: 'array of object', description: '' },
    { name: 'a[].b', isRequired: false, type: '<a>B</a>', description: '' },
    { name: 'c', isRequired: false, type: 'integer, 1 to 9 or null', description: 'C' },
  ])
})
