/**
 * The equality of worlds: everything that later steps can depend on, as text.
 *
 * Rule: two worlds with one key have the same futures. Numbers of proposals do not count, only what they propose.
 */
import { createHash } from 'node:crypto'
import type { Rows, World } from './world.ts'

const texts = new WeakMap<Rows, string>()

export function worldKey(world: World): string {
  const first = Math.min(...world.nodes.map(({ applied }) => applied))
  const what = (proposal: number | null) => {
    if (proposal === null) return null
    const outcome = world.outcomes.get(proposal)
    if (outcome !== undefined) return [outcome.index, outcome.reply.ok]
    return commandOf(world, proposal)
  }
  const nodes = world.nodes.map(({ applied, copies, fresh, ending, copying, removing, barrier, gateway }) => [
    applied,
    [...copies].map(([file, isGood]) => `${file} ${isGood}`).sort(),
    [...fresh].sort(),
    ending.map(({ proposal, file }) => [file, what(proposal)]),
    copying && [copying.name, copying.permit, what(copying.proposal)],
    removing,
    barrier,
    gateway.epoch,
    gateway.sessions,
    gateway.uploads.map((upload) => [
      { ...upload, acked: upload.acked.toSorted((one, other) => one - other), proposal: null },
      what(upload.proposal),
    ]),
    gateway.opening && [gateway.opening.session, what(gateway.opening.proposal)],
  ])
  const proposals = world.proposals.map(({ command }) => JSON.stringify(command)).sort()
  const writes = world.writes.map(({ node, name }) => `${node} ${name.id}.${name.birth}`).sort()
  const rows = world.states.slice(first).map(textOf)
  return digest(JSON.stringify([nodes, proposals, writes, [...world.faulted].sort(), world.budget, rows]))
}

function commandOf(world: World, id: number): string | null {
  const proposal = world.proposals.find((one) => one.id === id)
  return proposal === undefined ? null : JSON.stringify(proposal.command)
}

function textOf(rows: Rows): string {
  let text = texts.get(rows)
  if (text === undefined) {
    const sorted = [...rows].sort(([one], [other]) => (one < other ? -1 : 1))
    texts.set(rows, (text = digest(JSON.stringify(sorted))))
  }
  return text
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64')
}
