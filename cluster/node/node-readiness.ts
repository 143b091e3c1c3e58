/**
 * Whether this node can serve now, in sentences an operator can act on.
 */
import type { NodeId } from '../raft/types.ts'
import type { ClusterTimeStatus, Readiness } from '../base/types.ts'
import type { ClusterTime } from './time/cluster-time.ts'
import type { Driver } from './driver.ts'
import { expulsionText } from './base/expulsion.ts'
import type { NodeLimits } from './base/limits.ts'
import type { NodeOptions } from './base/options.ts'

export function nodeReadiness(driver: Driver, options: NodeOptions, limits: NodeLimits): Readiness {
  const { nodeId, incarnation } = options
  const { commitIndex, configuration, suspects } = driver.status()
  const registered = driver.applier.registered(nodeId)?.incarnation ?? incarnation
  const lag = commitIndex - driver.applier.appliedIndex
  const expelled = driver.gate.expelled ?? (registered === incarnation ? null : 'member_tombstoned')
  // A missing leader follows from it, and would mislead the operator.
  if (expelled !== null) return { ready: false, reasons: [expulsionText(nodeId, expelled)], expelled }
  const reasons: string[] = []
  if (driver.leaderView.leaderId === null) {
    reasons.push(
      noLeader(
        configuration.voters,
        suspects.map((suspect) => suspect.nodeId),
      ),
    )
  }
  const { isInstalling, rebuild, guard } = driver.state
  if (rebuild.reason !== null) reasons.push(rebuild.reason)
  else if (isInstalling) reasons.push('The state is being copied from another node')
  if (guard.doubt !== null) reasons.push(guard.doubt)
  // Where a majority is full no other node is better: this one reads, and takes commands that free space.
  if (driver.room.level !== 'open' && driver.room.hasMajority) {
    reasons.push('The disk of the log and the state is full: free space on it')
  }
  if (driver.disk.isStalled) reasons.push('The disk of the log does not answer')
  if (lag > limits.applyLagMax) reasons.push(`The local state is ${lag} entries behind the commit index`)
  const skewMs = driver.clocks.time.skewMs
  if (skewMs !== null) reasons.push(skewText(nodeId, skewMs))
  return { ready: reasons.length === 0, reasons, ...(skewMs === null ? {} : { clockSkewMs: skewMs }) }
}

function skewText(nodeId: string, skewMs: number): string {
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1)
  const where = skewMs > 0 ? 'ahead of' : 'behind'
  return `The clock of node ${nodeId} is ${seconds} s ${where} that of the majority: set it right (clock_skew)`
}

/** `driver` null: this node takes no part yet. */
export function timeStatus(time: ClusterTime, driver: Driver | null): ClusterTimeStatus {
  const { majorityTime, offsetMs } = time
  const { time: logTime, confirmedTime } = driver?.applier.time ?? { time: 0, confirmedTime: 0 }
  const offsets = driver?.leaderView.isLeader ? time.offsets(driver.status().configuration) : []
  return { majorityTime, offsetMs, offsets, logTime, confirmedTime }
}

function noLeader(voters: readonly NodeId[], suspects: readonly NodeId[]): string {
  const all = voters.join(', ')
  if (suspects.length === 0) return `No leader is known: a majority of ${all} must be up and reach each other`
  const needed = Math.min(Math.floor(voters.length / 2) + 2, voters.length)
  const names = suspects.join(', ')
  return `No leader is known, and the disk of ${names} is not proved current (disk_not_proved_current): ${needed} of ${all} must be up and reach each other, or see deploy/runbooks/disk-went-back.md`
}
