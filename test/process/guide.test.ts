/**
 * The guide: each line of its pages is typed into a shell as it stands there, and what is printed is held against the
 * block below it.
 *
 * Only the ports and the data folder are replaced: the defaults may be in use on the machine that runs the tests. All pages
 * together ask for more tokens in a minute than anybody who types, so that limit is raised.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { plainly } from '../helpers/plainly.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { startLauncher } from '../helpers/launched-cluster.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const GUIDE = join(ROOT, 'docs', 'guide')
const SHELL_MS_MAX = 60_000
/** Printed before each block, so that what each printed can be told apart. */
const MARK = '--- block '

interface Block {
  readonly typed: string
  /** What is printed, `…` for anything; undefined: it does not matter. */
  readonly printed: string | undefined
}

function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$(?:\n^```text\n([\s\S]*?)^```$)?/gm)].map((match) => ({
    typed: match[1] ?? '',
    printed: match[2],
  }))
}

function fits(printed: string, expected: string): boolean {
  const pattern = expected
    .trim()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^\\n]*')
  return new RegExp(`^${pattern}$`).test(printed.replaceAll('\r', '').trim())
}

t.test('every line of the guide does what it says', { timeout: 120_000 }, async (t) => {
  t.notOk(fits('204', '200'))
  t.notOk(fits('{"a":1}\n204', '{…}'), 'a line is a line')
  t.ok(fits('{"a":1,"b":2}\r\n204', '{"a":…}\n204'))
  const work = temporaryFolder(t)
  const data = join(work, 'data')
  const config = join(work, 'limits.yaml')
  writeFileSync(config, 'limits:\n  token_mint_per_minute: 600\n  token_mint_burst: 100\n')
  const basePort = await startLauncher(t, data, ['--config', config])
  const local = (text: string): string =>
    text
      .replaceAll('data/cluster.json', join(data, 'cluster.json'))
      .replaceAll('$PWD/dist', join(ROOT, 'dist'))
      .replaceAll('npm run -s holdfast --', `${process.execPath} ${join(ROOT, 'src', 'main.ts')}`)
      .replace(/127\.0\.0\.1:9(\d{3})/g, (_, offset: string) => `127.0.0.1:${basePort + Number(offset)}`)
  const [token] = blocksOf(readFileSync(join(ROOT, 'README.md'), 'utf8'))
  const pages = readdirSync(GUIDE).filter((name) => name !== 'README.md')
  t.ok(pages.length >= 3)
  for (const page of pages) {
    const blocks = blocksOf(readFileSync(join(GUIDE, page), 'utf8'))
    t.ok(blocks.length > 3, `${page} has lines to type`)
    const cwd = join(work, page)
    mkdirSync(cwd)
    const input = blocks.map(({ typed }, n) => `echo; echo '${MARK}${n}'\n${local(typed)}`).join('')
    const shell = spawnSync(...plainly('sh', '-eu'), {
      cwd,
      input: `${local(token?.typed ?? '')}\n${input}`,
      encoding: 'utf8',
      timeout: SHELL_MS_MAX,
    })
    t.equal(shell.status, 0, `${page}: the shell is content: ${shell.stderr}`)
    const heard = shell.stdout.split(new RegExp(`\\n${MARK}\\d+\\n`)).slice(1)
    t.equal(heard.length, blocks.length, `${page} ran to its end`)
    for (const [n, { typed, printed }] of blocks.entries())
      if (printed !== undefined)
        t.ok(fits(heard[n] ?? '', printed), `${page}: ${typed}\nprinted: ${heard[n]}\nexpected: ${printed}`)
  }
})
