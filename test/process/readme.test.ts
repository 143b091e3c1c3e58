/**
 * The first upload and download of the README, typed as they stand there into a shell, against `npm start`'s launcher.
 *
 * Only the ports and the data folder are replaced: the defaults may be in use on the machine that runs the tests.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startLauncher } from '../helpers/launched-cluster.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const SHELL_MS_MAX = 60_000
/** Printed before each block, so that a failure says in which one it was. */
const MARK = '--- block '

function shellBlocks(): readonly string[] {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8')
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '')
}

t.test(
  'the README uploads through one node and downloads through another',
  { timeout: 120_000 },
  async (t) => {
    const blocks = shellBlocks()
    t.equal(blocks.length, 3, 'token; bucket, upload and download; list, range and delete')
    // The folder is removed after the cluster has stopped: teardowns run from the last to the first.
    const work = temporaryFolder(t)
    const data = join(work, 'data')
    const basePort = await startLauncher(t, data)
    const script = blocks
      .map((block, i) => `echo '${MARK}${i + 1}'\n${block}`)
      .join('')
      .replaceAll('data/cluster.json', join(data, 'cluster.json'))
      .replaceAll('package-lock.json', join(ROOT, 'package-lock.json'))
      .replace(/127\.0\.0\.1:9(\d{3})/g, (_, offset: string) => `127.0.0.1:${basePort + Number(offset)}`)
    const shell = spawnSync('sh', ['-eu'], {
      cwd: work,
      input: script,
      encoding: 'utf8',
      timeout: SHELL_MS_MAX,
    })
    t.equal(shell.status, 0, `the shell is content: ${shell.stderr}`)
    t.match(shell.stdout, /the same bytes/)
    t.match(shell.stdout, /"keyCount":1/)
    t.ok(
      shell.stdout.endsWith('{\n  "name"') ||
        shell.stdout.includes(readFileSync(join(ROOT, 'package-lock.json'), 'latin1').slice(0, 10)),
    )
  },
)
