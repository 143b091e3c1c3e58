/**
 * The documents agree with the tree: every link leads to a target, every file and symbol that the
 * walks name exists, and the reference pages match the code.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { configurationPage } from '../../scripts/pages/configuration.ts'
import { doctorPage } from '../../scripts/pages/doctor.ts'
import { errorsPage } from '../../scripts/pages/errors.ts'
import { S3_ACTION_NAMES } from '../../scripts/pages/s3-actions.ts'
import { provingTests, s3CompatibilityPage } from '../../scripts/pages/s3-compatibility.ts'
import { START_ERRORS, startErrorsPage } from '../../scripts/pages/start-errors.ts'
import { s3Table } from '../../src/api/s3/routes.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const WALKS = ['docs/life-of-a-put.md', 'docs/life-of-a-message.md', 'docs/life-of-a-voter-join.md']

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)))
const documents = files.filter((path) => path.endsWith('.md'))

/** A file that git ignores is made by a script, such as secrets: it is not in a clone. */
const isMadeLater = (path: string): boolean =>
  spawnSync('git', ['check-ignore', '--quiet', path], { cwd: ROOT }).status === 0

/** Fenced blocks show commands and layouts: nothing in them is a link or a symbol. */
const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '')
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')

/** The name that a heading has in a link, as repository hosts make it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const anchorsOf = (path: string): readonly string[] =>
  [...withoutBlocks(read(path)).matchAll(/^#+ (.*)$/gm)].map((match) => anchorOf(match[1] ?? ''))

function deadLinksOf(path: string): readonly string[] {
  const links = [...withoutBlocks(read(path)).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '')
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false
    const [target = '', anchor] = link.split('#')
    const file = target === '' ? path : join(dirname(path), target)
    if (!existsSync(join(ROOT, file))) return true
    return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor)
  })
}

t.test('every link between documents leads to a file and a heading that exist', async (t) => {
  t.ok(documents.length > 15, 'the documents are found')
  for (const path of documents) t.same(deadLinksOf(path), [], path)
  t.equal(anchorOf('Step 2: `a.ts`, and more'), 'step-2-ats-and-more')
})

t.test('every path that a document names in code type exists', async (t) => {
  const isPath = /^(cluster|src|test|scripts|docs|deploy)\/[\w./-]*$/
  for (const path of documents.filter((document) => !document.startsWith('docs/adr/'))) {
    const named = [...withoutBlocks(read(path)).matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '')
    const missing = named.filter(
      (name) => isPath.test(name) && !existsSync(join(ROOT, name)) && !isMadeLater(name),
    )
    t.same(missing, [], path)
  }
})

const sources = files
  .filter((path) => /^(cluster|src)\/.*\.ts$/.test(path))
  .map((path) => withoutComments(read(path)))
const mentions = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\w$])${word}(?![\\w$])`).test(text)

/** `name` occurs in some source; `Type.member` occurs where the type is declared. */
function isInSources(symbol: string): boolean {
  const [owner = '', member] = symbol.split('.')
  if (member === undefined) return sources.some((text) => mentions(text, owner))
  const declares = new RegExp(`\\b(class|interface|type|const) ${owner}\\b`)
  return sources.some((text) => declares.test(text) && mentions(text, member))
}

t.test('every symbol that the walks name exists in the sources', async (t) => {
  t.notOk(isInSources('Raft.noSuchMember'))
  t.notOk(isInSources('noSuchSymbolAnywhere'))
  for (const path of WALKS) {
    const named = [...withoutBlocks(read(path)).matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '')
    const symbols = named.filter((name) => /^#?[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)?$/.test(name))
    t.ok(symbols.length > 40, `${path} names ${symbols.length} symbols`)
    t.same(
      symbols.filter((symbol) => !isInSources(symbol)),
      [],
      path,
    )
    t.notMatch(read(path), /\.ts:\d|\bline \d/, `${path} has no line numbers`)
  }
})

t.test(
  'the reference pages match the code: run scripts/pages/{configuration,doctor,errors,s3-compatibility,start-errors}.ts',
  async (t) => {
    t.equal(read('docs/configuration.md'), configurationPage())
    t.equal(read('docs/doctor.md'), doctorPage())
    t.equal(read('docs/errors.md'), errorsPage())
    t.equal(read('docs/start-errors.md'), startErrorsPage())
    t.equal(read('docs/s3-compatibility.md'), s3CompatibilityPage())
  },
)

t.test('every action of the S3 API has its name from S3, and a test that proves it', async (t) => {
  const names = new Set(S3_ACTION_NAMES)
  t.equal(names.size, S3_ACTION_NAMES.length, 'no name stands twice')
  const { routes, refused } = s3Table
  t.same(
    [...routes, ...refused].filter(({ action }) => !names.has(action)).map(({ action }) => action),
    [],
  )
  const tests = provingTests()
  t.same(
    routes.filter(({ action }) => !tests.has(action)).map(({ action }) => action),
    [],
    'begin the title of a test with the name, or add it to the line "Actions:" of a header',
  )
})

t.test('ARCHITECTURE.md stays short and maps every room', async (t) => {
  const text = read('ARCHITECTURE.md')
  t.ok(text.split('\n').length <= 300, 'at most 300 lines')
  const rooms = new Set(files.flatMap((path) => /^((?:cluster|src)\/[^/]+)\//.exec(path)?.[1] ?? []))
  t.ok(rooms.size > 10, 'the rooms are found')
  for (const room of rooms) t.match(text, `\`${room}/\``, `${room} is on the map`)
})

t.test('every error that keeps a node from starting has its row in docs/start-errors.md', async (t) => {
  const calls = sources.flatMap((text) =>
    [...text.matchAll(/StartError\(([^,]*),/g)].map((match) => match[1] ?? ''),
  )
  const supers = sources.flatMap((text) =>
    /extends StartError/.test(text)
      ? [...text.matchAll(/super\(([^,]*),/g)].map((match) => match[1] ?? '')
      : [],
  )
  const codes = [...calls, ...supers].flatMap((call) =>
    [...call.matchAll(/'([a-z_]+)'/g)].map((match) => match[1] ?? ''),
  )
  t.ok(codes.length > 20, 'the codes are found')
  const explained = Object.keys(START_ERRORS)
  t.same(
    [...new Set(codes)].filter((code) => !explained.includes(code)),
    [],
  )
  // Some codes are composed, such as `listener_tls_` and the fault.
  t.same(
    explained.filter((code) => !codes.includes(code) && !/^(peer|listener)_tls_/.test(code)),
    [],
  )
})
