/** The program that runs attacks: what it accepts, what it prints, that each run ends by itself and all of them in their time. */
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Attack, AttackTarget } from './attack.ts'
import { attackTable } from './attack-table.ts'
import { ATTACKS } from './attacks.ts'
import { type AttackOptions, parseAttackOptions, usageOf } from './options.ts'
import { type AttackRow, runAttack } from './run-attack.ts'
import { type PlannedRun, runPlan } from './run-plan.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const node = { nodeId: 'n1', dataUrl: '', adminUrl: '', peerAddress: '', dataDir: '', logFile: '', pid: 0 }
const account = { tenantId: '', accessKeyId: '', secretKey: '', bucket: '', token: '' }
const target: AttackTarget = { nodes: [node], acme: account, evil: account, ownerToken: '' }

function attackOn(request: Attack['victim']['request'], run: Attack['run']): Attack {
  return { id: 'X', title: 'a trial', victim: { title: 'GET', request }, leadMs: 0, run }
}

const untilAborted: Attack['run'] = (_, signal) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve({ opened: 7 }), { once: true }))

const BEFORE = { name: 'before', mainFile: '' }
const AFTER = { name: 'after', mainFile: '' }
const NOTHING = { p50Ms: null, p99Ms: null, completed: 0, failed: 0, unanswered: 0, seconds: 1 }

/** A plan of two attacks on two checkouts, whose clock moves by `runMs` in each run. */
function planOf(
  { rounds, minutes }: Pick<AttackOptions, 'rounds' | 'minutes'>,
  runMs = 0,
  check: (run: PlannedRun) => void = () => undefined,
) {
  const attacks = ['a', 'b'].map((id) => ({ ...attackOn(async () => undefined, untilAborted), id }))
  const ran: string[] = []
  let nowMs = 0
  const run = async (planned: PlannedRun): Promise<AttackRow> => {
    const { attack, build, round } = planned
    ran.push(`${attack.id} ${build.name} ${round}`)
    nowMs += runMs
    check(planned)
    return { attack, alone: NOTHING, beside: NOTHING, counts: {} }
  }
  const options = { attacks, builds: [BEFORE, AFTER], rounds, minutes, seconds: 3 }
  const plan = () => runPlan(options, { run, report: () => undefined, now: () => nowMs })
  return { plan, ran }
}

t.test('attacks', async (t) => {
  t.test('have names of their own', async (t) => {
    t.equal(new Set(ATTACKS.map(({ id }) => id)).size, ATTACKS.length)
    for (const { id } of ATTACKS) t.match(usageOf(ATTACKS), id)
  })

  t.test('are chosen by their names', async (t) => {
    const all = parseAttackOptions([], ATTACKS, ROOT)
    t.equal(all?.attacks, ATTACKS)
    t.match(all, { rounds: 1, minutes: 15, builds: [{ mainFile: /src.main\.ts$/ }] })
    const some = parseAttackOptions(['--only', 'D1b,D1', '--seconds', '3', '--build', ROOT], ATTACKS, '/')
    t.same(
      some?.attacks.map(({ id }) => id),
      ['D1b', 'D1'],
    )
    t.equal(parseAttackOptions(['--help'], ATTACKS, ROOT), null)
  })

  t.test('are measured for as long as the time of all of them allows', async (t) => {
    const secondsOf = (...argv: readonly string[]) => parseAttackOptions(argv, ATTACKS, ROOT)?.seconds ?? 0
    t.equal(secondsOf('--only', 'D1'), 20, 'one alone')
    const both = ['--build', `${ROOT},${ROOT}`]
    const seconds = secondsOf(...both)
    t.ok(seconds >= 3 && seconds < secondsOf(), `${seconds} s with two checkouts`)
    t.equal(secondsOf(...both, '--rounds', '20'), 3, 'too much for the time: the least')
    t.equal(secondsOf(...both, '--seconds', '7'), 7)
  })

  t.test('are refused by name', async (t) => {
    const wrong: readonly (readonly [RegExp, readonly string[]])[] = [
      [/No attack is called 'D99'; there are D1, /, ['--only', 'D99']],
      [/--seconds takes a whole number from 1 to 600/, ['--seconds', '0']],
      [/--build takes a checkout, but there is no '.*main.ts'/, ['--build', '/nowhere']],
      [/--rounds takes a whole number from 1 to 20/, ['--rounds', '21']],
      [/--minutes takes a whole number from 1 to 600/, ['--minutes', 'x']],
      [/there is no '\/nowhere.*main.ts'/, ['--build', `${ROOT},/nowhere`]],
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
    const planned = { attack: row.attack, build: BEFORE, round: 1 } as PlannedRun
    const table = attackTable([{ ...planned, outcome: row }])
    t.match(table, /^\| attack +\| +nodes of \| +victim \|/)
    t.match(table, /\| X: a trial \| +before \| +GET \|.*\| +0, 1 open \| +0 % \| +opened 7 \|$/)
  })

  t.test('run on each checkout in turn, the other way round each second time', async (t) => {
    const { plan, ran } = planOf({ rounds: 2, minutes: 600 })
    const { rows, left } = await plan()
    t.same(ran, [
      'a before 1',
      'a after 1',
      'b before 1',
      'b after 1',
      'a after 2',
      'a before 2',
      'b after 2',
      'b before 2',
    ])
    t.same(left, [])
    const shown = rows.map(({ attack, build, round }) => `${attack.id} ${build.name} ${round}`)
    t.same(
      shown.slice(0, 4),
      ['a before 1', 'a before 2', 'a after 1', 'a after 2'],
      'what is compared stands together',
    )
    t.match(attackTable(rows), /after, 2\./)
  })

  t.test('that would end too late do not begin, and are named', async (t) => {
    const { plan, ran } = planOf({ rounds: 3, minutes: 1 }, 40_000)
    const { rows, left } = await plan()
    t.same(ran, ['a before 1', 'a after 1'], 'an attack runs on both checkouts or on none')
    t.equal(rows.length + left.length, 12)
  })

  t.test('that fail have a row that says why, and the others continue', async (t) => {
    const { plan } = planOf({ rounds: 1, minutes: 600 }, 0, ({ attack }) => {
      if (attack.id === 'a') throw new Error('no | \n start')
    })
    const { rows } = await plan()
    t.match(attackTable(rows), /\| a: a trial .* - \| +failed: no \/ start \|/)
    t.equal(rows.filter(({ outcome }) => outcome instanceof Error).length, 2)
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
