/** How `npm run chaos` ends when there is nothing to run. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

function run(env: NodeJS.ProcessEnv, ...args: string[]) {
  const { NODE_OPTIONS: _, ...own } = process.env
  return spawnSync(process.execPath, [MAIN, ...args], {
    env: { ...own, ...env },
    encoding: 'utf8',
    timeout: 1_800_000,
  })
}

t.test('npm run chaos', async (t) => {
  await t.test('says why and ends with 3 where hosts cannot be made', async (t) => {
    const { status, stderr } = run({ PATH: '/nowhere' })
    t.equal(status, 3)
    t.match(
      stderr,
      /^error: no hosts can be made here: unshare cannot be run: .*\n {2}Run it as root on Linux/,
    )
  })

  await t.test('ends with 2 for a nemesis that there is not', async (t) => {
    const { status, stderr } = run({}, '--nemesis', 'earthquake')
    t.equal(status, 2)
    t.match(stderr, /^error: There is no nemesis 'earthquake': expected mixed/)
  })

  await t.test('prints the usage with --help', async (t) => {
    const { status, stdout } = run({}, '--help')
    t.equal(status, 0)
    t.match(stdout, /isolate-leader/)
  })
})
