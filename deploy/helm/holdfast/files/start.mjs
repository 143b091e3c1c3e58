/**
 * Process 1 of a pod of the chart: puts the files of this node where only it can read them, and runs `holdfast server` in this process.
 *
 * Rule: only a pod that is no founder and whose data directory knows no members waits to join. A founder with an empty volume starts as it would on a machine: the
 * other members notice by its incarnation that its disk was emptied. Nothing here changes who is a member.
 */
import { chmodSync, copyFileSync, existsSync, readFileSync } from 'node:fs'

const GIVEN = '/run/holdfast'
const OWN = '/etc/holdfast'
const DATA = '/var/lib/holdfast/data'
const PROGRAM = '/opt/holdfast/dist/bundle/main.js'
const FILES = ['ca.pem', 'master.key', 'node.pem', 'node.key']

/** `names`: pod name -> node id, for pods whose id is another. `isKnown`: its data directory has a list of members, so it waits or is one. */
export function nodeOf({ pod, founders, names, isKnown }) {
  return { id: names[pod] ?? pod, joins: !isKnown && !founders.includes(pod) }
}

function start() {
  const { POD_NAME: pod = '', FOUNDERS = '', NAMES = '{}' } = process.env
  const isKnown = existsSync(`${DATA}/members.json`)
  const { id, joins } = nodeOf({ pod, founders: FOUNDERS.split(','), names: JSON.parse(NAMES), isKnown })
  const missing = [...FILES, 'cluster-id'].filter((file) => !existsSync(`${GIVEN}/${file}`))
  if (missing.length > 0) {
    process.stderr.write(
      `The Secret of the nodes has no ${missing.join(', ')} for ${pod} (node ${id}). The Job of the chart makes them at the next helm upgrade; a Secret of your own needs ${id}.pem and ${id}.key.\n`,
    )
    return null
  }
  for (const file of FILES) {
    const target = `${OWN}/${file}`
    if (existsSync(target)) chmodSync(target, 0o600)
    copyFileSync(`${GIVEN}/${file}`, target)
    chmodSync(target, 0o600)
  }
  copyFileSync('/opt/chart/node.yaml', `${OWN}/node.yaml`)
  process.env.HOLDFAST_NODE__ID = id
  process.env.HOLDFAST_CLUSTER__ID = readFileSync(`${GIVEN}/cluster-id`, 'utf8').trim()
  return ['server', '--config', `${OWN}/node.yaml`, ...(joins ? ['--join'] : [])]
}

if (import.meta.main) {
  const args = start()
  if (args === null) process.exitCode = 1
  else {
    process.argv.splice(1, process.argv.length, PROGRAM, ...args)
    await import(PROGRAM)
  }
}
