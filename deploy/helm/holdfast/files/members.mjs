/**
 * The Jobs of the chart that change members: `join` takes the waiting nodes of an upgrade in, `leave` demotes and removes those for which it has no pod.
 *
 * Rules: they run when Helm runs, never because a pod ended or moved. A join is pinned to the certificate that the chart made. Nothing is removed without
 * MAY_REMOVE, only members with a name of this release, no founder, and one at a time; the first refusal ends the Job, and with it the upgrade.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const PAUSE_MS = 5000
const { SETS = '[]', MAY_REMOVE = 'false', WAIT_SECONDS = '3600', NODES_FILE = '/opt/chart/nodes.json' } = process.env

/** Nodes of the chart that are no members, founders left out: they form the cluster themselves. */
export function joining(nodes, members) {
  const there = new Set(members.map(({ nodeId }) => nodeId))
  return nodes.filter(({ id, founder }) => !founder && !there.has(id))
}

/** Members of this release without a pod in it, the highest ordinal first. A member that was added by hand under another address stays. */
export function leaving(nodes, members, sets) {
  const kept = new Set(nodes.map(({ id }) => id))
  const ordinal = ({ peerAddress }) =>
    Math.max(-1, ...sets.map(({ name }) => Number(new RegExp(`^${name}-(\\d+)\\.`).exec(peerAddress)?.[1] ?? -1)))
  return members
    .filter((member) => !kept.has(member.nodeId) && ordinal(member) >= 0)
    .toSorted((a, b) => ordinal(b) - ordinal(a))
}

const read = () => JSON.parse(readFileSync(NODES_FILE, 'utf8'))
const status = () => JSON.parse(execFileSync('holdfast', ['cluster', 'status', '--json'], { encoding: 'utf8' })).members
const holdfast = (...args) => spawnSync('holdfast', args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0

async function join(deadline) {
  for (const { id, host, zone } of joining(read(), status())) {
    const shown = execFileSync('holdfast', ['certs', 'show', `/certificates/${id}.pem`, '--json'], { encoding: 'utf8' })
    const [{ sha256 }] = JSON.parse(shown).certificates
    const args = ['--peer', `${host}:9002`, '--fingerprint', sha256, ...(zone === '' ? [] : ['--zone', zone])]
    // The pod may not be there yet. A join that was requested before is answered with the operation that runs.
    while (!holdfast('cluster', 'join', id, ...args, '--reason', 'helm upgrade with more replicas', '--wait')) {
      if (Date.now() > deadline) throw new Error(`${id} was not taken in within ${WAIT_SECONDS} s`)
      await setTimeout(PAUSE_MS)
    }
  }
}

function leave() {
  const members = leaving(read(), status(), JSON.parse(SETS))
  if (members.length === 0) return
  const names = members.map(({ nodeId }) => nodeId).join(', ')
  if (MAY_REMOVE !== 'true')
    throw new Error(
      `This upgrade would take ${names} out of the cluster for good. If that is meant, add --set members.remove=true; nothing was changed`,
    )
  for (const { nodeId, phase } of members) {
    const why = ['--confirm', nodeId, '--reason', 'helm upgrade with fewer replicas']
    if (phase === 'active' && !holdfast('cluster', 'demote', nodeId, ...why, '--wait'))
      throw new Error(`${nodeId} was not demoted; no pod was removed`)
    if (!holdfast('cluster', 'remove', nodeId, ...why)) throw new Error(`${nodeId} was not removed; no pod was removed`)
  }
}

if (import.meta.main) {
  try {
    if (process.argv[2] === 'join') await join(Date.now() + Number(WAIT_SECONDS) * 1000)
    else leave()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
