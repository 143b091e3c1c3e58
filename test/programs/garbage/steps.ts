/**
 * Every step that can happen next in a world, as plain data.
 *
 * Owns: the possible steps. Knows nothing of: their effects (perform.ts), the choice among them.
 * Rule: every step that the rules of the design allow at this moment is in the list; only the budget bounds it.
 */
import type { ObjectRecord } from '../../../src/state-machine/versions/records.ts'
import { chunkKeys } from '../../../src/state-machine/chunks/keys.ts'
import { mayRemove } from '../../../cluster/repair/may-remove.ts'
import type { Command } from '../../../src/state-machine/commands.ts'
import { copyStatus } from '../../../src/state-machine/chunks/copy-status.ts'
import { lowWaterOf } from '../../../src/workers/upload-sessions.ts'
import {
  type Disk,
  fileOf,
  isLost,
  latest,
  type Name,
  nameIn,
  NODE_NAMES,
  nodeOf,
  PART_KEY,
  rowsIn,
  rowsOf,
  seenBy,
  viewOf,
  type World,
} from './world.ts'

type Each<K extends string, T> = K extends string ? Readonly<{ do: K } & T> : never

export type Step =
  | Each<'commit' | 'lose', { proposal: number }>
  | Each<'arrive' | 'loseWrite', { write: number }>
  | Each<'apply' | 'crash' | 'barrier' | 'open' | 'advance' | 'finishCopy' | 'giveUpCopy', { node: number }>
  | Each<'judge' | 'unlink' | 'collect', { node: number }>
  | Each<'rollBack', { node: number; to: number }>
  | Each<'begin', { node: number; content: string; key: string }>
  | Each<'propose' | 'abandon' | 'giveUp', { node: number; upload: number }>
  | Each<'delete', { node: number; key: string }>
  | Each<'copyVersion' | 'removeVersion', { node: number; key: string; versionId: string }>
  | Each<'complete' | 'abort', { node: number }>
  | Each<'release', { node: number; id: string }>
  | Each<'releaseDue', { node: number; upTo: number }>
  | Each<'copy', { node: number; name: Name; permit: number }>
  | Each<'see', { node: number; name: Name }>
  | Each<'rot' | 'report', { node: number; file: string }>
  | Each<'move', { node: number; id: string; target: number; replaces: string | null }>
  | Each<'cancel', { node: number; id: string; target: string }>
  | Each<'close', { session: string }>

/** One session is enough for an upload; further sessions of a gateway wait for uploads of unknown outcome. */
export function openSessionOf(node: Disk) {
  return node.gateway.sessions.findLast(({ retired }) => !retired)
}

export function stepsOf(world: World): Step[] {
  const steps: Step[] = []
  for (const { id } of world.proposals) {
    steps.push({ do: 'commit', proposal: id })
    if (world.budget.losses > 0) steps.push({ do: 'lose', proposal: id })
  }
  world.writes.forEach((_, write) => {
    steps.push({ do: 'arrive', write })
    if (world.budget.losses > 0) steps.push({ do: 'loseWrite', write })
  })
  world.nodes.forEach((node, i) => {
    if (node.applied < world.states.length - 1) steps.push({ do: 'apply', node: i })
    if (world.budget.crashes > 0 && isBusy(node)) steps.push({ do: 'crash', node: i })
    if (world.budget.rollbacks > 0)
      for (const to of new Set([world.firstIndex, node.applied - 2]))
        if (to >= world.firstIndex && to < node.applied) steps.push({ do: 'rollBack', node: i, to })
    if (node.barrier === null) steps.push({ do: 'barrier', node: i })
    gatewaySteps(world, i, steps)
    diskSteps(world, i, steps)
    ledgerSteps(world, i, steps)
  })
  if (world.budget.closes > 0)
    for (const [key, row] of latest(world))
      if (key.startsWith('session\u0000') && 'closed' in row && !row.closed)
        steps.push({ do: 'close', session: key.slice('session\u0000'.length) })
  return steps
}

function isBusy({ copying, removing, gateway }: Disk): boolean {
  return copying !== null || removing !== null || gateway.sessions.length > 0 || gateway.opening !== null
}

function gatewaySteps(world: World, i: number, steps: Step[]): void {
  const { budget } = world
  const node = nodeOf(world, i)
  const { gateway } = node
  if (gateway.epoch === Infinity) return
  const hasSession = openSessionOf(node) !== undefined
  const isOpening = gateway.opening !== null && !isLost(world, gateway.opening.proposal)
  if (!hasSession && !isOpening && budget.uploads > 0) steps.push({ do: 'open', node: i })
  if (hasSession && budget.uploads > 0)
    for (let content = 0; content < world.contents; content++)
      for (const key of world.uploadId === null ? [`k${i}`] : [`k${i}`, PART_KEY])
        steps.push({ do: 'begin', node: i, content: `c${content}`, key })
  gateway.uploads.forEach((upload, at) => {
    if (upload.proposal !== null) {
      if (budget.unknowns > 0 || isLost(world, upload.proposal))
        steps.push({ do: 'giveUp', node: i, upload: at })
      return
    }
    if (upload.existing || upload.acked.length >= world.copiesMin)
      steps.push({ do: 'propose', node: i, upload: at })
    if (budget.unknowns > 0) steps.push({ do: 'abandon', node: i, upload: at })
  })
  if (budget.advances > 0 && advancesOf(world, i).length > 0) steps.push({ do: 'advance', node: i })
  if (budget.versions > 0) versionSteps(world, i, steps)
  if (budget.deletes > 0)
    for (const { key } of objectsOf(world, i)) steps.push({ do: 'delete', node: i, key })
}

/** Requests of a gateway's clients for single versions and the upload. */
function versionSteps(world: World, i: number, steps: Step[]): void {
  const rows = seenBy(world, i)
  for (const kind of ['object', 'version'] as const)
    for (const { kind: what, key, versionId } of rowsIn(rows, kind)) {
      if (what === 'object') steps.push({ do: 'copyVersion', node: i, key, versionId })
      steps.push({ do: 'removeVersion', node: i, key, versionId })
    }
  for (const { partCount } of rowsIn(rows, 'upload'))
    if (partCount > 0) steps.push({ do: 'complete', node: i }, { do: 'abort', node: i })
}

/** Proposals of this gateway's worker: the mark of ended uploads, and closed sessions. */
export function advancesOf(world: World, i: number): Command[] {
  const { gateway } = nodeOf(world, i)
  const view = viewOf(seenBy(world, i))
  return gateway.sessions.flatMap((session): Command[] => {
    const row = view.get(chunkKeys.session(session.id))
    const isUnderWay = world.proposals.some(
      ({ command }) => 'session' in command && command.session === session.id,
    )
    if (row === undefined || row.closed || isUnderWay) return []
    const active = gateway.uploads.filter((upload) => upload.session === session.id).map(({ first }) => first)
    if (session.retired && active.length === 0) return [{ type: 'closeSession', session: session.id }]
    const lowWater = lowWaterOf({ ...session, active })
    return lowWater > row.lowWater ? [{ type: 'advanceSession', session: session.id, lowWater }] : []
  })
}

function* objectsOf(world: World, i: number): Generator<{ key: string }> {
  for (const [key, row] of seenBy(world, i))
    if (key.includes('\u0000object\u0000')) yield { key: (row as ObjectRecord).key }
}

export function isLocked(node: Disk, name: Name): boolean {
  const file = fileOf(name)
  if (node.copying !== null && fileOf(node.copying.name) === file) return true
  return node.removing !== null && node.removing.judged !== null && fileOf(node.removing.name) === file
}

function diskSteps(world: World, i: number, steps: Step[]): void {
  const node = nodeOf(world, i)
  const view = viewOf(seenBy(world, i))
  if (node.copying === null) {
    for (const { target, chunkId: id, birth, permit } of rowsOf(seenBy(world, i), 'repair')) {
      const name = { id, birth }
      if (target === NODE_NAMES[i] && !(world.rules.locksCopies && isLocked(node, name)))
        steps.push({ do: 'copy', node: i, name, permit })
    }
  } else if (node.copying.proposal === null) steps.push({ do: 'finishCopy', node: i })
  else if (world.budget.unknowns > 0 || isLost(world, node.copying.proposal))
    steps.push({ do: 'giveUpCopy', node: i })
  removalSteps(world, i, steps)
  if (world.budget.faults > 0)
    for (const [file, isGood] of node.copies)
      if (isGood && mayRot(world, i, file)) steps.push({ do: 'rot', node: i, file })
  for (const [file, isGood] of node.copies)
    if (!isGood && copyStatus(view, nameIn(file), NODE_NAMES[i] ?? '') === 'listed')
      steps.push({ do: 'report', node: i, file })
}

function removalSteps(world: World, i: number, steps: Step[]): void {
  const node = nodeOf(world, i)
  const { removing } = node
  const isCurrent = node.barrier !== null && node.applied >= node.barrier
  if (world.rules.passesBarrier && !isCurrent) return
  if (removing === null) {
    for (const name of removable(world, i)) steps.push({ do: 'see', node: i, name })
  } else if (removing.judged === null) {
    if (!(world.rules.locksCopies && isLocked(node, removing.name))) steps.push({ do: 'judge', node: i })
  } else steps.push({ do: 'unlink', node: i })
}

/** Findings of a sweep of the disk, or of the drop rows. */
export function* removable(world: World, i: number): Generator<Name> {
  const holder = NODE_NAMES[i] ?? ''
  const rows = seenBy(world, i)
  const node = nodeOf(world, i)
  for (const file of node.fresh) if (seemsRemovable(world, nameIn(file), i)) yield nameIn(file)
  for (const { node: of, id, birth } of rowsOf(rows, 'drop')) {
    const isThere = node.copies.has(fileOf({ id, birth }))
    if (of === holder && (isThere || !isProposed(world, 'dropsDone'))) yield { id, birth }
  }
}

export function seemsRemovable(world: World, name: Name, i: number): boolean {
  const verdict = copyStatus(viewOf(seenBy(world, i)), name, NODE_NAMES[i] ?? '')
  if (!world.rules.unknownIsOpen && verdict === 'undecided') return !isKnownSession(world, name, i)
  return mayRemove(verdict)
}

function isKnownSession(world: World, { birth }: Name, i: number): boolean {
  return seenBy(world, i).has(`session\u0000${birth.slice(0, birth.lastIndexOf('-'))}`)
}

/** Faults leave one good listed copy: a chunk lost everywhere is outside of this simulator. */
function mayRot(world: World, i: number, file: string): boolean {
  const { id, birth } = nameIn(file)
  for (const chunk of rowsOf(latest(world), 'chunk')) {
    if (chunk.id !== id || chunk.birth !== birth) continue
    const good = chunk.replicas.filter(
      (holder) => world.nodes[NODE_NAMES.indexOf(holder)]?.copies.get(file) === true,
    )
    return good.length > 1 && good.includes(NODE_NAMES[i] ?? '')
  }
  return false
}

/** Proposals of the workers of any node, from the rows that it sees. */
function ledgerSteps(world: World, i: number, steps: Step[]): void {
  const rows = seenBy(world, i)
  const { budget } = world
  let hasCondemned = false
  for (const _ of rowsOf(rows, 'condemned')) hasCondemned = true
  if (hasCondemned && budget.collections > 0 && !isProposed(world, 'collectChunks'))
    steps.push({ do: 'collect', node: i })
  if (budget.collections > 0 && !isProposed(world, 'releaseDiscarded'))
    for (const { id } of rowsOf(rows, 'discard')) steps.push({ do: 'release', node: i, id })
  // All discarded bodies are named and the mark is that of the oldest: newer ones must stay.
  if (budget.releases > 0 && !isProposed(world, 'releaseDue'))
    for (const { discardedAt: upTo } of rowsOf(rows, 'discarded')) {
      steps.push({ do: 'releaseDue', node: i, upTo })
      break
    }
  if (budget.moves > 0)
    for (const { id, replicas, owed, references } of rowsOf(rows, 'chunk'))
      for (let target = 0; target < world.nodes.length; target++) {
        const name = NODE_NAMES[target] ?? ''
        if (references === 0 || replicas.includes(name) || owed.includes(name)) continue
        for (const replaces of [null, ...replicas]) steps.push({ do: 'move', node: i, id, target, replaces })
      }
  if (budget.cancels > 0)
    for (const { operation, chunkId: id, target } of rowsOf(rows, 'repair'))
      if (operation !== null) steps.push({ do: 'cancel', node: i, id, target })
}

/** One idempotent proposal at a time is enough. */
function isProposed(world: World, type: string): boolean {
  return world.proposals.some(({ command }) => command.type === type)
}
