/** A command loads only its own code, not the hundreds of modules of a node. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { withoutLoader } from '../helpers/without-loader.ts'

const PROGRAM = new URL('../../src/cli/program.ts', import.meta.url).href
const CLUSTER = new URL('../../cluster/', import.meta.url).href
const COUNT = `
import { registerHooks } from 'node:module'
const read = new Set()
registerHooks({ load: (url, context, next) => (read.add(url), next(url, context)) })
await import(${JSON.stringify(PROGRAM)})
console.log(JSON.stringify([...read]))`

t.test(
  'the command line loads no module of a node, and no package except commander, before it knows the command',
  async (t) => {
    const [program, args] = withoutLoader(process.execPath, '--input-type=module', '--eval', COUNT)
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      encoding: 'utf8',
    })
    t.equal(status, 0, stderr)
    const read = JSON.parse(stdout) as readonly string[]
    t.ok(read.includes(PROGRAM))
    const heavy = (url: string): boolean =>
      url.startsWith(CLUSTER) || (url.includes('/node_modules/') && !url.includes('/commander/'))
    t.same(read.filter(heavy), [])
  },
)
