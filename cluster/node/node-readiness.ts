/**
 * Whether this node can serve now, in sentences an operator can act on.
 */
import type { Readiness } from '../types.ts'
import type { Driver } from './driver.ts'
import { expulsionText } from './expulsion.ts'
import type { NodeLimits } from './limits.ts'
import type { NodeOptions } from './options.ts'

export function nodeReadiness(driver: Driver, options: NodeOptions, limits: NodeLimits): Readiness {
  const { nodeId, incarnation } = options
  const { commitIndex, configuration } = driver.status()
  const registered = driver.applier.registered(nodeId)?.incarnation ?? incarnation
  const lag = commitIndex - driver.applier.appliedIndex
  const expelled = driver.gate.expelled ?? (registered === incarnation ? null : 'member_tombstoned')
  // That no leader is known follows from it, and would lead astray.
  if (expelled !== null) return { ready: false, reasons: [expulsionText(nodeId, expelled)], expelled }
  const reasons: string[] = []
  if (driver.route.leaderId === null) {
    reasons.push(
      `No leader is known: a majority of ${configuration.voters.join(', ')} must be up and reach each other`,
    )
  }
  const { isInstalling, rebuild, guard } = driver.state
  if (rebuild.reason !== null) reasons.push(rebuild.reason)
  else if (isInstalling) reasons.push('The state is being copied from another node')
  if (guard.doubt !== null) reasons.push(guard.doubt)
  if (driver.disk.isFull) {
    reasons.push('The disk of the log is full: free space on it, then start this node again')
  }
  if (driver.disk.isStalled) reasons.push('The disk of the log does not answer')
  if (lag > limits.applyLagMax) reasons.push(`The local state is ${lag} entries behind what is committed`)
  return { ready: reasons.length === 0, reasons }
}
