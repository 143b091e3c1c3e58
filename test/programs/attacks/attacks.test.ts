/** The program that runs attacks: what it accepts, what it prints, and that each run ends by itself. */
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Attack, AttackTarget } from './attack.ts'
import { attackTable } from './attack-table.ts'
import { ATTACKS } from './attacks.ts'
import { parseAttackOptions, usageOf } from './options.ts'
import { runAttack } from './run-attack.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const node = { nodeId: 'n1', dataUrl: '', adminUrl: '', peerAddress: '', dataDir: '', logFile: '', pid: 0 }
const account = { tenantId: '', accessKeyId: '', secretKey: '', bucket: '', token: '' }
const target: AttackTarget = { nodes: [node], acme: account, evil: account, ownerToken: '' }

function attackOn(request: Attack['victim']['request'], run: Attack['run']): Attack {
  return { id: 'X', title: 'a trial', victim: { title: 'GET', request }, leadMs: 0, run }
}

const untilAborted: Attack['run'] = (_, signal) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve({ opened: 7 }), { once: true }))

t.test('attacks', async (t) => {
  t.test('have names of their own', async (t) => {
    t.equal(new Set(ATTACKS.map(({ id }) => id)).size, ATTACKS.length)
    for (const { id } of ATTACKS) t.match(usageOf(ATTACKS), id)
  })

  t.test('are chosen by their names', async (t) => {
    const all = parseAttackOptions([], ATTACKS, ROOT)
    t.equal(all?.attacks, ATTACKS)
    t.equal(all?.seconds, 20)
    const some = parseAttackOptions(['--only', 'D1b,D1', '--seconds', '3', '--build', ROOT], ATTACKS, '/')
    t.same(
      some?.attacks.map(({ id }) => id),
      ['D1b', 'D1'],
    )
    t.equal(parseAttackOptions(['--help'], ATTACKS, ROOT), null)
  })

  t.test('are refused by name', async (t) => {
    const wrong: readonly (readonly [RegExp, readonly string[]])[] = [
      [/No attack is called 'D99'; there are D1, /, ['--only', 'D99']],
      [/--seconds takes a whole number from 1 to 600/, ['--seconds', '0']],
      [/--build takes a checkout, but there is no '.*main.ts'/, ['--build', '/nowhere']],
      [/--fast/, ['--fast']],
    ]
    for (const [message, argv] of wrong)
      t.throws(() => parseAttackOptions(argv, ATTACKS, ROOT), { name: 'Error', message })
  })

  t.test('end with a row of figures, also when the victim gets no answer', async (t) => {
    let isStuck = false
    const request: Attack['victim']['request'] = (_, __, { signal }) =>
      isStuck
        ? new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(new Error('gone')), { once: true }),
          )
        : new Promise((resolve) => setImmediate(resolve))
    const run: Attack['run'] = (at, signal) => {
      isStuck = true
      return untilAborted(at, signal)
    }
    const row = await runAttack(attackOn(request, run), target, 0.3)
    t.ok(row.alone.completed > 0)
    t.match(row.beside, { completed: 0, unanswered: 1, failed: 0 })
    t.ok((row.beside.p99Ms ?? 0) > 250, 'the time that it has waited counts')
    const table = attackTable([row])
    t.match(table, /^\| attack +\| +victim \|/)
    t.match(table, /\| X: a trial \| +GET \|.*\| +0, 1 open \| +0 % \| +opened 7 \|$/)
  })

  t.test('that fail or end early have no row', async (t) => {
    const request = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    const early = attackOn(request, async () => ({}))
    await t.rejects(runAttack({ ...early, leadMs: 60_000 }, target, 0.1), { message: /ended before/ })
    const broken = attackOn(request, async () => {
      throw new Error('cannot connect')
    })
    await t.rejects(runAttack({ ...broken, leadMs: 60_000 }, target, 0.1), { message: 'cannot connect' })
  })
})
