/**
 * What each step does to a world.
 *
 * Owns: the behaviour of gateways, copiers, droppers and disks as designed, with the real decisions of apply,
 * copyStatus, mayRemove and lowWaterOf. Rule: a step changes the world it is given, and makes no random choice.
 */
import assert from 'node:assert/strict'
import { chunkKeys } from '../../../src/state-machine/chunks/keys.ts'
import { birthOf } from '../../../src/state-machine/chunks/births.ts'
import type { CondemnedRecord } from '../../../src/state-machine/chunks/records.ts'
import { copyStatus } from '../../../src/state-machine/chunks/copy-status.ts'
import { fresh, found, putChunks } from '../../state-machine/map-world.ts'
import { checkEntry } from './invariants.ts'
import { advancesOf, isLocked, openSessionOf, seemsRemovable, type Step } from './steps.ts'
import { partOf, releaseCommand, releaseDueCommand, versionCommand } from './version-commands.ts'
import {
  append,
  fileOf,
  type Gateway,
  isLost,
  nameIn,
  NODE_NAMES,
  nodeOf,
  PART_KEY,
  propose,
  rowsOf,
  seenBy,
  type Upload,
  viewOf,
  type World,
} from './world.ts'

const nameOf = (node: number): string => NODE_NAMES[node] ?? ''
/** Items of one listing, drop or copy: bounded like the commands. */
const ITEMS_MAX = 256

export function perform(world: World, step: Step): void {
  switch (step.do) {
    case 'commit':
      return commit(world, step.proposal)
    case 'lose':
      world.budget.losses--
      world.proposals = world.proposals.filter(({ id }) => id !== step.proposal)
      return
    case 'arrive':
      return arrive(world, step.write)
    case 'loseWrite':
      world.budget.losses--
      world.writes.splice(step.write, 1)
      return
    case 'apply':
      nodeOf(world, step.node).applied++
      settleCopies(world, step.node)
      return settle(world, step.node)
    case 'crash':
      world.budget.crashes--
      return crash(world, step.node)
    case 'rollBack':
      world.budget.rollbacks--
      nodeOf(world, step.node).applied = step.to
      crash(world, step.node)
      return
    case 'barrier':
      nodeOf(world, step.node).barrier = world.states.length - 1
      return
    case 'close':
      world.budget.closes--
      propose(world, { type: 'closeSession', session: step.session })
      return
    default:
      return performOnNode(world, step)
  }
}

type NodeStep = Exclude<
  Step,
  { do: 'commit' | 'lose' | 'arrive' | 'loseWrite' | 'apply' | 'crash' | 'rollBack' | 'barrier' | 'close' }
>

function performOnNode(world: World, step: NodeStep): void {
  const node = nodeOf(world, step.node)
  switch (step.do) {
    case 'open':
      return open(world, step.node)
    case 'begin':
      return begin(world, step)
    case 'propose':
      return proposeUpload(world, node.gateway, step.upload)
    case 'abandon':
    case 'giveUp':
      return endUpload(world, node.gateway, step)
    case 'advance':
      world.budget.advances--
      for (const command of advancesOf(world, step.node)) propose(world, command)
      return
    case 'delete':
      world.budget.deletes--
      propose(world, {
        type: 'deleteObject',
        tenantId: 'acme',
        bucket: 'photos',
        key: step.key,
        versionId: null,
        ifMatch: null,
      })
      return
    case 'copyVersion':
    case 'removeVersion':
    case 'complete':
    case 'abort':
      world.budget.versions--
      propose(world, versionCommand(world, step))
      return
    case 'release':
      propose(world, releaseCommand(world, step))
      return
    case 'releaseDue':
      world.budget.releases--
      propose(world, releaseDueCommand(world, step))
      return
    case 'copy':
      node.copying = { name: step.name, permit: step.permit, proposal: null }
      return
    case 'finishCopy':
      return finishCopy(world, step.node)
    case 'giveUpCopy':
      world.budget.unknowns--
      node.copying = null
      return
    default:
      return performOnDisk(world, step)
  }
}

type DiskStep = Extract<
  Step,
  { do: 'see' | 'judge' | 'unlink' | 'rot' | 'report' | 'collect' | 'move' | 'cancel' }
>

function performOnDisk(world: World, step: DiskStep): void {
  const node = nodeOf(world, step.node)
  switch (step.do) {
    case 'see':
      node.removing = { name: step.name, seen: seemsRemovable(world, step.name, step.node), judged: null }
      return
    case 'judge':
      return judge(world, step.node)
    case 'unlink':
      return unlink(world, step.node)
    case 'rot':
      world.budget.faults--
      node.copies.set(step.file, false)
      return
    case 'report': {
      const { id: chunkId, birth } = nameIn(step.file)
      node.copies.delete(step.file)
      node.fresh.delete(step.file)
      world.faulted.add(`${nameOf(step.node)}/${step.file}`)
      const copies = [{ tenantId: 'acme', chunkId, birth }]
      propose(world, { type: 'dropReplicas', node: nameOf(step.node), copies, operation: null })
      return
    }
    case 'collect': {
      world.budget.collections--
      const chunks = [...rowsOf(seenBy(world, step.node), 'condemned')] as CondemnedRecord[]
      propose(world, { type: 'collectChunks', chunks: chunks.slice(0, ITEMS_MAX) })
      return
    }
    case 'move':
      return move(world, step)
    case 'cancel': {
      world.budget.cancels--
      const chunk = viewOf(seenBy(world, step.node)).get(chunkKeys.chunk('acme', step.id))
      const birth = chunk?.birth ?? ''
      const tasks = [{ tenantId: 'acme', chunkId: step.id, birth, target: step.target }]
      propose(world, { type: 'endTasks', operation: 'op', tasks })
    }
  }
}

function commit(world: World, id: number): void {
  const proposal = world.proposals.find((one) => one.id === id)
  assert(proposal !== undefined, 'a committing command was proposed')
  world.proposals = world.proposals.filter((one) => one !== proposal)
  const reply = append(world, proposal.command)
  checkEntry(world, proposal.command, reply)
  world.outcomes.set(id, { index: world.states.length - 1, reply })
}

function arrive(world: World, at: number): void {
  const [write] = world.writes.splice(at, 1)
  assert(write !== undefined, 'an arriving write was sent')
  putCopy(world, write.node, fileOf(write.name))
  for (const { gateway } of world.nodes)
    for (const upload of gateway.uploads)
      if (upload.birth === write.name.birth && upload.proposal === null)
        upload.acked = [...upload.acked, write.node]
}

function putCopy(world: World, node: number, file: string): void {
  nodeOf(world, node).copies.set(file, true)
  if (world.rules.watchesWrites) nodeOf(world, node).fresh.add(file)
  settleCopies(world, node)
  world.faulted.delete(`${nameOf(node)}/${file}`)
}

/** Resolves waits for entries that are applied here now. */
function settle(world: World, i: number): void {
  const node = nodeOf(world, i)
  const answer = (proposal: number | null) => {
    const outcome = proposal === null ? undefined : world.outcomes.get(proposal)
    return outcome !== undefined && outcome.index <= node.applied ? outcome : undefined
  }
  const { gateway } = node
  gateway.uploads = gateway.uploads.filter(({ proposal }) => answer(proposal) === undefined)
  const opened = gateway.opening === null ? undefined : answer(gateway.opening.proposal)
  if (gateway.opening !== null && opened !== undefined) {
    const { session: id } = gateway.opening
    if (opened.reply.ok) gateway.sessions.push({ id, next: 0, retired: false, heldAt: Infinity })
    gateway.opening = null
  }
  const view = viewOf(seenBy(world, i))
  for (const session of gateway.sessions)
    session.retired ||= view.get(chunkKeys.session(session.id))?.closed === true
  if (node.copying !== null && answer(node.copying.proposal) !== undefined) node.copying = null
}

/**
 * The sweep runs as early as it can: only a drop row can end a copy that a row names. While the end of a drop row is under way the
 * copy is watched all the same; that the walk after a crash comes before such an end is taken for granted, the walk once a week is not modelled.
 */
function settleCopies(world: World, i: number): void {
  const node = nodeOf(world, i)
  node.ending = node.ending.filter(({ proposal }) => {
    const outcome = world.outcomes.get(proposal)
    return outcome === undefined ? !isLost(world, proposal) : outcome.index > node.applied
  })
  const ending = node.ending.map(({ file }) => file)
  const { fresh } = node
  for (const file of fresh) {
    if (ending.includes(file)) continue
    const verdict = copyStatus(viewOf(seenBy(world, i)), nameIn(file), nameOf(i))
    if (verdict === 'listed' || verdict === 'owed') fresh.delete(file)
  }
}

/** The contents of memory are gone; disk and applied rows stay. The next process walks over its disk. */
function crash(world: World, i: number): void {
  const node = nodeOf(world, i)
  node.fresh = new Set(world.rules.walksAfterCrash ? node.copies.keys() : [])
  settleCopies(world, i)
  node.copying = null
  node.removing = null
  node.barrier = null
  node.gateway = { sessions: [], uploads: [], opening: null, epoch: node.gateway.epoch }
}

function open(world: World, i: number): void {
  const { gateway } = nodeOf(world, i)
  const session = `s${i}x${gateway.epoch++}`
  const keep = gateway.sessions.map(({ id }) => id)
  gateway.opening = {
    session,
    proposal: propose(world, { type: 'openSession', session, node: nameOf(i), keep }),
  }
}

/** Like UploadSessions and ingest. */
function begin(world: World, { node: i, content, key }: Extract<Step, { do: 'begin' }>): void {
  const node = nodeOf(world, i)
  const session = openSessionOf(node)
  assert(session !== undefined, 'an upload has a session')
  world.budget.uploads--
  const row = viewOf(seenBy(world, i)).get(chunkKeys.chunk('acme', content))
  const about = { content, key, session: session.id, first: session.next, acked: [], proposal: null }
  if (row !== undefined && row.condemnedAt === null && row.replicas.length >= world.copiesMin) {
    node.gateway.uploads.push({ ...about, birth: row.birth, existing: true })
    return
  }
  // The wrong way: more copies under the birth of a row that has too few, which needs no permission of that row.
  const isTopUp = row !== undefined && !world.rules.newBirthForTopUp
  const birth = isTopUp ? row.birth : birthOf(session.id, session.next++)
  node.gateway.uploads.push({ ...about, birth, existing: false })
  for (let to = 0; to < world.nodes.length; to++)
    world.writes.push({ node: to, name: { id: content, birth } })
}

function proposeUpload(world: World, gateway: Gateway, at: number): void {
  const upload = gateway.uploads[at]
  assert(upload !== undefined, 'an upload is running')
  const { key } = upload
  const whole = putChunks(key, [useOf(world, upload)], world.copiesMin)
  const { size, etag, checksums, body } = whole
  const part = { ...partOf(world), partNumber: 1, size, etag, checksums, body }
  upload.proposal = propose(world, key === PART_KEY ? { type: 'putPart', ...part } : whole)
}

function useOf(world: World, { content, birth, existing, acked }: Upload) {
  if (existing) return found(content, { birth })
  const missing = world.nodes.flatMap((_, i) => (acked.includes(i) ? [] : [nameOf(i)]))
  return fresh(content, { birth, replicas: acked.map(nameOf), missing })
}

function endUpload(world: World, gateway: Gateway, step: Extract<Step, { do: 'abandon' | 'giveUp' }>): void {
  world.budget.unknowns--
  const [upload] = gateway.uploads.splice(step.upload, 1)
  const session = gateway.sessions.find(({ id }) => id === upload?.session)
  if (step.do === 'abandon' || upload === undefined || session === undefined || !world.rules.holdsMark) return
  session.heldAt = Math.min(session.heldAt, upload.first)
  session.retired = true
}

/** Reads the copy back, or fetches it from a holder that the row as seen here lists, and commits it. */
function finishCopy(world: World, i: number): void {
  const node = nodeOf(world, i)
  const job = node.copying
  assert(job !== null, 'a copy is being made')
  const file = fileOf(job.name)
  const row = viewOf(seenBy(world, i)).get(chunkKeys.chunk('acme', job.name.id))
  const isThere = node.copies.get(file) === true
  const source = row?.replicas.find(
    (holder) => world.nodes[NODE_NAMES.indexOf(holder)]?.copies.get(file) === true,
  )
  if (!isThere && source === undefined && world.rules.readsBack) {
    node.copying = null
    return
  }
  if (!isThere && source !== undefined) putCopy(world, i, file)
  const { id: chunkId, birth } = job.name
  const copies = [{ tenantId: 'acme', chunkId, birth, permit: job.permit }]
  job.proposal = propose(world, { type: 'addReplicas', node: nameOf(i), copies })
}

function judge(world: World, i: number): void {
  const job = nodeOf(world, i).removing
  assert(job !== null, 'a copy is being removed')
  job.judged = world.rules.judgesUnderLock ? seemsRemovable(world, job.name, i) : job.seen
}

function unlink(world: World, i: number): void {
  const node = nodeOf(world, i)
  const job = node.removing
  assert(job !== null && job.judged !== null, 'a copy was judged')
  node.removing = null
  if (!job.judged) return
  assert(
    !world.rules.locksCopies || node.copying === null || !isLocked({ ...node, removing: null }, job.name),
  )
  node.copies.delete(fileOf(job.name))
  node.fresh.delete(fileOf(job.name))
  const { id, birth } = job.name
  const drop = viewOf(seenBy(world, i)).get(chunkKeys.drop(nameOf(i), birth, id))
  if (drop === undefined) return
  // The copy is watched until the end of the drop row is applied here.
  const proposal = propose(world, { type: 'dropsDone', node: nameOf(i), names: [{ id, birth }] })
  if (!world.rules.watchesDrops) return
  node.fresh.add(fileOf(job.name))
  node.ending.push({ proposal, file: fileOf(job.name) })
}

function move(world: World, step: Extract<Step, { do: 'move' }>): void {
  world.budget.moves--
  const chunk = viewOf(seenBy(world, step.node)).get(chunkKeys.chunk('acme', step.id))
  assert(chunk !== undefined, 'the moved chunk was seen')
  const { birth } = chunk
  const about = { tenantId: 'acme', chunkId: step.id, birth, target: nameOf(step.target) }
  const moves = [{ ...about, replaces: step.replaces, copiesKept: world.copiesMin }]
  propose(world, { type: 'planCopies', operation: 'op', moves })
}
