/**
 * The guide: each line of its pages is typed verbatim into a shell, and the output is compared with the
 * block below it.
 *
 * Only the ports and the data folder are replaced: the defaults may be in use on the machine that runs the tests. All pages
 * together request more tokens in a minute than a person who types, so that limit is raised.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import { buildClient } from '../../scripts/build/client.ts'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { UNTYPED_PAGES } from '../../scripts/checks/guide-pages.ts'
import { startLauncher } from '../helpers/launched-cluster.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { Terminal } from '../helpers/terminal.ts'
import { blocksOf, fits, TypedPage } from '../helpers/typed-page.ts'
import { hasFuse } from '../s3-clients/base/mounts.ts'
import { programsNamed } from '../s3-clients/base/programs.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const GUIDE = join(ROOT, 'docs', 'guide')

/** Headings whose lines start programs that this machine may not have, and what tells whether it has them. */
const NEEDS: Readonly<Record<string, () => boolean>> = {
  'aws-cli': () => hasProgram('aws'),
  boto3: () => spawnSync('python3', ['-c', 'import boto3']).status === 0,
  s3cmd: () => hasProgram('s3cmd'),
  rclone: () => hasProgram('rclone', 'version'),
  restic: () => hasProgram('restic', 'version'),
  s3fs: () => hasFuse() && hasProgram('s3fs'),
  duplicity: () => hasProgram('duplicity'),
}

const hasProgram = (name: string, versionArgument = '--version'): boolean =>
  programsNamed(name, [versionArgument]).length > 0

/** Settings of this machine's own S3 clients do not reach the page; packages are those of the project. */
const OWN_CLIENTS = [
  "unset $(env | sed -n 's/^\\(AWS_[A-Z_]*\\)=.*/\\1/p') no_such_variable",
  `export NODE_PATH=${join(ROOT, 'node_modules')}`,
].join('\n')

/** The settings that a page shows. */
function settingsOf(page: string): unknown {
  const [, yaml = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readFileSync(join(GUIDE, page), 'utf8')) ?? []
  return (parse(yaml) as { readonly security?: unknown }).security
}

/** Starts a cluster with these settings; resolves with what puts its addresses and folders into a text. */
async function startedFor(t: Test, folder: string, settings: object = {}): Promise<(text: string) => string> {
  const data = join(folder, 'data')
  mkdirSync(folder)
  const config = join(folder, 'settings.yaml')
  const limits = { token_mint_per_minute: 600, token_mint_burst: 100 }
  writeFileSync(config, stringify({ limits, ...settings }))
  const basePort = await startLauncher(t, data, ['--config', config])
  return (text) =>
    text
      .replaceAll('data/cluster.json', join(data, 'cluster.json'))
      .replaceAll('data/n1', join(data, 'n1'))
      .replaceAll('$PWD/dist', join(ROOT, 'dist'))
      .replaceAll('$PWD/packages', join(ROOT, 'packages'))
      .replaceAll('npm run -s holdfast --', `${process.execPath} ${nodeProgram()}`)
      .replace(/127\.0\.0\.1:9(\d{3})/g, (_, offset: string) => `127.0.0.1:${basePort + Number(offset)}`)
}

t.test('the output is compared with the page line by line', async (t) => {
  t.notOk(fits('204', '200'))
  t.notOk(fits('{"a":1}\n204', '{…}'), 'lines are not joined')
  t.ok(fits('{"a":1,"b":2}\r\n204', '{"a":…}\n204'))
  t.ok(fits('a\nb\nc', 'a\n…\nc'), 'unless the page omits lines')
  t.ok(fits('a', 'a\n…'), 'be it none')
  t.notOk(fits('a\nb', 'a\n…\nc'))
})

t.test('every line of the guide works', { timeout: 1_800_000 }, async (t) => {
  buildClient(ROOT)
  const work = temporaryFolder(t)
  const plain = await startedFor(t, join(work, 'plain'))
  const readme = blocksOf(readFileSync(join(ROOT, 'README.md'), 'utf8'))
  const first = readme.find(({ typed }) => typed.startsWith('KEY='))?.typed ?? ''
  const token = first.split('\n').filter((line) => /^[A-Z]+=/.test(line))
  const pages = readdirSync(GUIDE).filter((name) => !UNTYPED_PAGES.includes(name))
  t.ok(pages.length >= 3)
  for (const page of pages) {
    t.ok(blocksOf(readFileSync(join(GUIDE, page), 'utf8')).length > 3, `${page} has lines to type`)
    const cwd = join(work, page)
    mkdirSync(cwd)
    await t.test(page, async (t) => {
      // Its settings ask for a second approval, which the other pages know nothing of.
      const isStrict = page === 'duties.md'
      const local = isStrict
        ? await startedFor(t, join(work, 'strict'), { security: settingsOf(page) })
        : plain
      const terminal = new Terminal(t, { cwd, preamble: local([OWN_CLIENTS, ...token].join('\n')) })
      const typed = new TypedPage({
        page: join(GUIDE, page),
        local,
        type: (_, lines) => terminal.type(lines),
      })
      for (const heading of typed.untyped) {
        if (NEEDS[heading]?.() ?? true) await typed.type(t, heading)
        else t.comment(`${page}: ${heading} is not typed, its program is not on this machine`)
      }
    })
  }
})
