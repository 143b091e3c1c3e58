/**
 * Every operation on members, interrupted at each of its effects in each way: it ends as if it had never started or as it was requested.
 *
 * Exhaustive: effects x what becomes of the leader x what becomes of the target x whether an operator gives it up just then.
 */
import t from 'tap'
import { memberIn, membersOf } from '../../src/state-machine/members/members.ts'
import { isFinished, unfinishedOperations } from '../../src/state-machine/long-operations/operations.ts'
import type { MembershipKind } from '../../src/state-machine/long-operations/records.ts'
import { start } from '../state-machine/member-commands.ts'
import { type Cell, FATES, INTERRUPTIONS, InterruptedWorld } from './interrupted-world.ts'

interface Case {
  readonly kind: MembershipKind
  readonly node: string
  readonly newcomer?: string
  /** Who may die with the leader, or alone. */
  readonly target: string
  /** What the operation finds. */
  readonly before?: (world: InterruptedWorld) => Promise<void>
  readonly after: string
}

const ALL = 'n1 active, n2 active, n3 active'

async function demoted(world: InterruptedWorld): Promise<void> {
  world.rows.do(start('demote', 'n3'))
  await untilEnded(world, 'op-demote-n3')
}

const CASES: readonly Case[] = [
  { kind: 'join', node: 'n4', newcomer: 'n4', target: 'n4', after: `${ALL}, n4 active` },
  { kind: 'demote', node: 'n3', target: 'n3', after: 'n1 active, n2 active, n3 drained' },
  { kind: 'demote', node: 'n3', target: 'n2', after: 'n1 active, n2 active, n3 drained' },
  { kind: 'demote', node: 'n1', target: 'n3', after: 'n1 drained, n2 active, n3 active' },
  { kind: 'replace', node: 'n3', newcomer: 'n4', target: 'n4', after: 'n1 active, n2 active, n4 active' },
  { kind: 'replace', node: 'n3', newcomer: 'n4', target: 'n3', after: 'n1 active, n2 active, n4 active' },
  { kind: 'replace', node: 'n1', newcomer: 'n4', target: 'n4', after: 'n2 active, n3 active, n4 active' },
  {
    kind: 'replace',
    node: 'n3',
    newcomer: 'n4',
    target: 'n4',
    before: async (world) => world.kill('n3'),
    after: 'n1 active, n2 active, n4 active',
  },
  {
    kind: 'lost',
    node: 'n3',
    target: 'n3',
    before: async (world) => world.kill('n3'),
    after: 'n1 active, n2 active, n3 lost',
  },
  { kind: 'remove', node: 'n3', target: 'n3', before: demoted, after: 'n1 active, n2 active' },
]

for (const one of CASES) {
  const name = `${one.kind} ${one.node}${one.newcomer === undefined ? '' : ` with ${one.newcomer}`}, ${one.target} in danger`
  t.test(`${name}: all of it or nothing [membership.resume]`, async (t) => {
    const plain = { at: 0, leader: 'none', leaderFate: 'lives', target: 'lives', isCancelled: false } as const
    const { effects, before } = await run(one, plain)
    const wrong: string[] = []
    let cells = 0
    for (const cell of cellsOf(effects - before)) {
      cells++
      const fault = await run(one, cell).then(
        () => null,
        (error: Error) => error.message,
      )
      if (fault !== null) wrong.push(`${JSON.stringify(cell)}: ${fault}`)
    }
    t.same(wrong.slice(0, 5), [], `${cells} interruptions, ${wrong.length} of them wrong`)
  })
}

function* cellsOf(effects: number): Generator<Cell> {
  for (let at = 1; at <= effects; at++)
    for (const leader of INTERRUPTIONS)
      for (const leaderFate of leader === 'before' || leader === 'after' ? FATES.slice(1) : FATES.slice(0, 1))
        for (const target of FATES)
          for (const isCancelled of [false, true]) yield { at, leader, leaderFate, target, isCancelled }
}

/** Runs the operation to its end. Throws unless that is one of the two allowed ones. */
async function run(one: Case, cell: Cell): Promise<{ readonly effects: number; readonly before: number }> {
  const world = new InterruptedWorld(cell, one.target)
  await one.before?.(world)
  const before = world.begin()
  const { kind, node, newcomer = null } = one
  const found = phasesOf(world)
  const id = `op-${kind}-${node}`
  world.rows.do(start(kind, node, { newcomer }))
  await untilEnded(world, id)
  await operate(world, id, cell.at % 2 === 0)
  judge(world, { one, found, id })
  return { effects: world.effects, before }
}

const ROUNDS_MAX = 25

async function untilEnded(world: InterruptedWorld, id: string): Promise<void> {
  for (let n = 0; n < ROUNDS_MAX && isOpen(world, id); n++) await world.round()
}

function isOpen(world: InterruptedWorld, id: string): boolean {
  const operation = world.operation(id)
  return operation === undefined || !isFinished(operation.status) || membersOf(world.rows).change !== null
}

/** The options of an operator when it does not end by itself: cancel it, and mark a node that never comes back as lost. */
async function operate(world: InterruptedWorld, id: string, isReversed: boolean): Promise<void> {
  if (!isOpen(world, id)) return
  if (world.cancel(id)) return untilEnded(world, id)
  const gone = isReversed ? world.gone.toReversed() : world.gone
  for (const nodeId of gone) {
    world.rows.do(start('lost', nodeId))
    await untilEnded(world, `op-lost-${nodeId}`)
  }
  await untilEnded(world, id)
}

function judge(
  world: InterruptedWorld,
  { one, found, id }: { readonly one: Case; readonly found: string; readonly id: string },
): void {
  const operation = world.operation(id)
  const present = membersOf(world.rows)
  const seen = phasesOf(world)
  const say = (what: string): never => {
    const { voters, learners } = world.committed
    const at = `${operation?.status} at ${operation?.cursor} (${operation?.phase})`
    throw new Error(`${what}; ${at}; ${seen}; ${voters.join(' ')} | ${learners.join(' ')}`)
  }
  if (unfinishedOperations(world.rows).length > 0 || present.change !== null) say('something has not ended')
  const lost = present.departed.filter(({ how }) => how === 'lost').map(({ nodeId }) => nodeId)
  const expected = (before: string): string =>
    lost.reduce((text, nodeId) => text.replace(new RegExp(`${nodeId} \\w+`), `${nodeId} lost`), before)
  const isOver = operation?.status === 'succeeded' && seen === expected(one.after)
  const isUndone = operation?.status === 'cancelled' && seen === expected(found)
  // Its last copies went with members that were called lost.
  const isHopeless = operation?.status === 'failed' && operation.error !== null && lost.includes(one.node)
  if (!isOver && !isUndone && !isHopeless) say('it is neither as before nor as asked for')
  const named = (...phases: string[]): string =>
    sorted(present.members.filter(({ phase }) => phases.includes(phase)).map(({ nodeId }) => nodeId))
  if (named('active') !== sorted(world.committed.voters)) say('votes differ')
  if (named('draining', 'drained') !== sorted(world.committed.learners)) say('learners differ')
  for (const { nodeId } of present.departed)
    if ((memberIn(present, nodeId)?.phase ?? 'lost') !== 'lost') say(`${nodeId} is back`)
  if (!world.rows.run(start('join', 'n9')).ok) say('nothing more can be changed')
}

const sorted = (names: readonly string[]): string => [...names].sort().join(' ')

function phasesOf(world: InterruptedWorld): string {
  return membersOf(world.rows)
    .members.map(({ nodeId, phase }) => `${nodeId} ${phase}`)
    .join(', ')
}
