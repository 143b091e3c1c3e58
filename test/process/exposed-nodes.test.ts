/**
 * What other users and other machines can reach of a node: files are for the user that runs it, whatever the mask of the shell and the mode
 * of the directory; plain HTTP is for loopback.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CommandLine } from '../helpers/command-line.ts'
import { DoctorSetups } from '../helpers/doctor-setups.ts'

const GROUP_AND_OTHERS = 0o077
/** The usual mask of a shell: files that name no mode are readable by all. */
process.umask(0o022)

/** Whatever the group or others may do something with. A running node may remove a file between its listing and its look-up. */
function openToOthers(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false })
    return found !== undefined && (found.mode & GROUP_AND_OTHERS) !== 0
  })
}

t.test('files of a node', { timeout: 1_800_000 }, async (t) => {
  const setups = await DoctorSetups.open(t)
  const at = (name: string): string => join(setups.folder, name)
  const using = (name: string): string =>
    setups.configure((config) => (config['node'] = { ...config['node'], data_dir: name }))
  const cli = new CommandLine({ cwd: setups.folder, env: {} })

  await t.test('a directory that others can read is closed at the start, and so is all in it', async (t) => {
    mkdirSync(at('made-before'), { mode: 0o755 })
    const node = await setups.run(t, using('made-before'))
    t.equal(statSync(at('made-before')).mode & 0o777, 0o700)
    t.ok(readdirSync(at('made-before/state/state-1')).some((name) => name.endsWith('.log')))
    t.same(openToOthers(at('made-before')), [], 'LevelDB files too')
    await node.stop()
  })

  await t.test('a directory that others can write to is refused, and nothing in it changes', async (t) => {
    mkdirSync(at('writable'))
    chmodSync(at('writable'), 0o770)
    const ran = await cli.run(['server', '--config', using('writable')])
    t.equal(ran.status, 1)
    t.match(ran.stderr, /write to the data directory.*mode 770[^]*chmod 700/)
    t.same(readdirSync(at('writable')), [])
  })

  await t.test(
    'plain HTTP beyond loopback is refused before anything is made [tls.plain-listeners]',
    async (t) => {
      const config = setups.configure((each) => {
        each['listeners'] = { ...each['listeners'], data: '0.0.0.0:7000' }
        each['node'] = { ...each['node'], data_dir: 'not-made' }
      })
      const ran = await cli.run(['server', '--config', config])
      t.equal(ran.status, 1)
      t.match(ran.stderr, /listeners\.data .*plain HTTP[^]*data_tls[^]*listeners\.data_plain: true/)
      t.notOk(existsSync(at('not-made')))
    },
  )

  await t.test('certificates, keys and reports are private', async (t) => {
    t.equal((await cli.run(['certs', 'init', '--dir', 'certs', '--cluster-id', 'cluster-of-one'])).status, 0)
    const report = ['recover', 'collect', '--config', using('data'), '--out', 'reports']
    t.equal((await cli.run(report)).status, 0)
    t.same([...openToOthers(at('certs')), ...openToOthers(at('reports'))], [])
  })
})
