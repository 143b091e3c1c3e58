/**
 * Majorities. Owns: counting over a configuration. Knows nothing of: what is counted.
 *
 * Rule: while a joint change is under way each half must agree by itself [thesis 4.3]; learners never count.
 */
import { assert } from './assert.ts'
import { isJoint } from './configuration.ts'
import type { Configuration, LogIndex, NodeId } from './types.ts'

/** True when the members that `agrees` accepts are a majority of every half. */
export function hasQuorum(configuration: Configuration, agrees: (nodeId: NodeId) => boolean): boolean {
  return halvesOf(configuration).every((half) => half.filter(agrees).length > half.length / 2)
}

/** The same with one more than a majority of every half, or with all of a half that has no more. */
export function hasWideQuorum(configuration: Configuration, agrees: (nodeId: NodeId) => boolean): boolean {
  return halvesOf(configuration).every((half) => half.filter(agrees).length >= wideCount(half))
}

/** The highest index that a majority of every half has reached. */
export function quorumIndex(configuration: Configuration, reached: (nodeId: NodeId) => LogIndex): LogIndex {
  return Math.min(...halvesOf(configuration).map((half) => indexOf(half.map(reached), majorityCount(half))))
}

export function wideQuorumIndex(
  configuration: Configuration,
  reached: (nodeId: NodeId) => LogIndex,
): LogIndex {
  return Math.min(...halvesOf(configuration).map((half) => indexOf(half.map(reached), wideCount(half))))
}

export function everyVoter(configuration: Configuration, agrees: (nodeId: NodeId) => boolean): boolean {
  return halvesOf(configuration).every((half) => half.every(agrees))
}

/** The highest index that every voter has reached. */
export function leastIndex(configuration: Configuration, reached: (nodeId: NodeId) => LogIndex): LogIndex {
  return Math.min(...halvesOf(configuration).flat().map(reached))
}

function majorityCount(half: readonly NodeId[]): number {
  return Math.floor(half.length / 2) + 1
}

function wideCount(half: readonly NodeId[]): number {
  return Math.min(majorityCount(half) + 1, half.length)
}

/** The highest index that `count` members have reached. */
function indexOf(indexes: readonly LogIndex[], count: number): LogIndex {
  const index = indexes.toSorted((a, b) => b - a)[count - 1]
  assert(index !== undefined, 'a majority needs at least one voter')
  return index
}

function halvesOf(configuration: Configuration): readonly (readonly NodeId[])[] {
  assert(configuration.voters.length > 0, 'a configuration has at least one voter')
  return isJoint(configuration) ? [configuration.voters, configuration.outgoing] : [configuration.voters]
}
