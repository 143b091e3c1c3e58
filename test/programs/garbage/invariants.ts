/**
 * Invariants of every world: after every step, and when it is quiescent.
 *
 * Owns: the checks, made only from rows and disks; it recomputes and shares nothing with apply.
 */
import assert from 'node:assert/strict'
import type { ManifestPageRecord } from '../../../src/state-machine/bodies/records.ts'
import { usageKeys } from '../../../src/state-machine/usage/keys.ts'
import { chunkKeys } from '../../../src/state-machine/chunks/keys.ts'
import { parseBirth } from '../../../src/state-machine/chunks/births.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import type { ChunkRecord } from '../../../src/state-machine/chunks/records.ts'
import { changedKeys, checkKept } from '../../state-machine/kept-bodies.ts'
import { recounted } from '../../state-machine/map-world.ts'
import { latest, NODE_NAMES, type Rows, rowsAt, rowsOf, viewOf, type World } from './world.ts'

/** Also of condemned chunks: a commit may revive them at any time. A damaged copy is a fault, not a loss by removal. */
export function checkCopies(world: World): void {
  for (const chunk of rowsOf(latest(world), 'chunk')) {
    checkNotLost(world, chunk)
    for (const holder of chunk.replicas) {
      const node = world.nodes[NODE_NAMES.indexOf(holder)]
      const file = `${chunk.id}.${chunk.birth}`
      if (node?.copies.has(file) === true || world.faulted.has(`${holder}/${file}`)) continue
      assert.fail(`a row lists ${file} on ${holder}, and it is not there`)
    }
  }
}

/**
 * After any loss of copies, a referenced chunk has a whole copy that no node may remove. That copy may be only owed: the late
 * report of a fault strikes off a copy that was made again since, and its task finds it there.
 */
function checkNotLost(world: World, chunk: ChunkRecord): void {
  if (chunk.references === 0) return
  const file = `${chunk.id}.${chunk.birth}`
  const isWhole = (holder: string) => world.nodes[NODE_NAMES.indexOf(holder)]?.copies.get(file) === true
  assert.ok([...chunk.replicas, ...chunk.owed].some(isWhole), `no whole copy of ${file} is listed or owed`)
}

/** Checks the entry that was just committed. */
export function checkEntry(world: World, command: Command, reply: Reply): void {
  if (!reply.ok && reply.code === 'session_ended') checkEnded(world, reply.births)
  const [earlier, later] = [rowsAt(world, world.states.length - 2), latest(world)]
  checkKept({ before: earlier, changed: changedKeys(earlier, later), commands: [command] })
  const [before, after] = [viewOf(earlier), viewOf(later)]
  for (const chunk of rowsOf(latest(world), 'chunk')) {
    const old = before.get(chunkKeys.chunk(chunk.tenantId, chunk.id))
    if (old?.birth !== chunk.birth || command.type === 'dropReplicas') continue
    assert.ok(
      chunk.replicas.length >= old.replicas.length,
      `${command.type} leaves fewer copies than there were`,
    )
  }
  if (command.type !== 'putObject' && command.type !== 'putPart') return
  if (command.body.kind !== 'chunks' || !reply.ok) return
  for (const { id } of command.body.chunks) {
    const copies = after.get(chunkKeys.chunk(command.tenantId, id))?.replicas.length ?? 0
    assert.ok(copies >= command.body.copiesMin, `${id} was acknowledged on ${copies} copies`)
  }
}

/** An upload fails and is retried only when its session was closed: no mark passes a running upload. */
function checkEnded(world: World, births: readonly string[]): void {
  for (const birth of births) {
    const session = parseBirth(birth)?.session ?? ''
    const row = viewOf(latest(world)).get(chunkKeys.session(session))
    assert.equal(row?.closed, true, `the mark of ${session} passed a running upload`)
  }
}

export function checkAtRest(world: World): void {
  const rows = latest(world)
  for (const kind of ['repair', 'drop', 'condemned', 'discard', 'discarded'] as const)
    for (const row of rowsOf(rows, kind)) assert.fail(`a ${kind} row is left: ${JSON.stringify(row)}`)
  assert.equal(viewOf(rows).get(chunkKeys.repairTotal())?.count ?? 0, 0)
  world.nodes.forEach((node, i) => {
    for (const file of node.copies.keys())
      assert.ok(isListed(rows, file, NODE_NAMES[i] ?? ''), `${file} on n${i} is an orphan`)
  })
  checkReferences(rows)
  assert.deepEqual(recounted({ rows: new Map(rows), ...viewOf(rows) }), [], 'the recount finds nothing')
  checkUsage(rows)
}

function isListed(rows: Rows, file: string, holder: string): boolean {
  for (const chunk of rowsOf(rows, 'chunk'))
    if (`${chunk.id}.${chunk.birth}` === file) return chunk.replicas.includes(holder)
  return false
}

function checkReferences(rows: Rows): void {
  const counted = new Map<string, number>()
  for (const [key, row] of rows)
    if (key.includes('\u0000manifestPage\u0000'))
      for (const { id } of (row as ManifestPageRecord).links) counted.set(id, (counted.get(id) ?? 0) + 1)
  const stored = new Map<string, number>()
  for (const { id, references } of rowsOf(rows, 'chunk')) stored.set(id, references)
  assert.deepEqual(stored, counted, 'references equal their recount')
}

function checkUsage(rows: Rows): void {
  const usage = viewOf(rows).get(usageKeys.usage('acme'))
  const chunks: ChunkRecord[] = [...rowsOf(rows, 'chunk')]
  const total = (figure: (chunk: ChunkRecord) => number) =>
    chunks.reduce((sum, chunk) => sum + figure(chunk), 0)
  assert.equal(usage?.chunkCount ?? 0, chunks.length)
  assert.equal(
    usage?.chunkBytes ?? 0,
    total(({ size }) => size),
  )
  assert.equal(
    usage?.storedBytes ?? 0,
    total(({ sealedSize }) => sealedSize),
  )
  assert.equal(
    usage?.copyBytes ?? 0,
    total(({ sealedSize, replicas }) => sealedSize * replicas.length),
  )
}
