/**
 * Quiesces a world: no more faults and no more uploads, and every node finishes its work.
 *
 * Rule: only steps that the design provides; a world that does not become quiescent within the bound is a bug.
 */
import assert from 'node:assert/strict'
import { checkCopies } from './invariants.ts'
import { perform } from './perform.ts'
import { openSessionOf, type Step, stepsOf } from './steps.ts'
import { isLost, nodeOf, type World } from './world.ts'

const ROUNDS_MAX = 200
/** In the order in which a round takes them: running work ends before new work starts. */
const ORDER: readonly Step['do'][] = [
  'commit',
  'arrive',
  'apply',
  'barrier',
  'giveUpCopy',
  'finishCopy',
  'unlink',
  'judge',
  'report',
  'copy',
  'release',
  'releaseDue',
  'collect',
  'see',
]

export function quiesce(world: World): void {
  const none = {
    uploads: 0,
    deletes: 0,
    crashes: 0,
    rollbacks: 0,
    losses: 0,
    unknowns: 0,
    moves: 0,
    cancels: 0,
    faults: 0,
    closes: 0,
    collections: Infinity,
    releases: Infinity,
    advances: Infinity,
    versions: 0,
  }
  Object.assign(world.budget, none)
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (!doRound(world)) return
  }
  assert.fail('the world does not become quiescent')
}

const ONE_AT_A_TIME: ReadonlySet<Step['do']> = new Set(['release', 'releaseDue', 'collect', 'see', 'copy'])

/** Whether any step was left. */
function doRound(world: World): boolean {
  let isBusy = false
  for (let i = 0; i < world.nodes.length; i++) isBusy = closeUploads(world, i) || isBusy
  for (const kind of ORDER) {
    for (let step = next(world, kind); step !== undefined; step = next(world, kind)) {
      perform(world, step)
      checkCopies(world)
      isBusy = true
      // One at a time, or a read would be repeated before it had an effect.
      if (ONE_AT_A_TIME.has(kind)) break
    }
  }
  return isBusy
}

function next(world: World, kind: Step['do']): Step | undefined {
  return stepsOf(world).find((step) => step.do === kind)
}

/** Uploads without a proposal end, those of lost proposals have an unknown outcome, and every gateway that ran has a session. */
function closeUploads(world: World, i: number): boolean {
  const node = nodeOf(world, i)
  const { gateway } = node
  const before = world.nextProposal
  gateway.uploads = gateway.uploads.filter(({ proposal }) => proposal !== null)
  for (let at = gateway.uploads.length - 1; at >= 0; at--)
    if (isLost(world, gateway.uploads[at]?.proposal ?? 0))
      perform(world, { do: 'giveUp', node: i, upload: at })
  const isOpening = gateway.opening !== null && !isLost(world, gateway.opening.proposal)
  const ran = gateway.epoch > 0 && gateway.epoch !== Infinity
  if (ran && openSessionOf(node) === undefined && !isOpening) perform(world, { do: 'open', node: i })
  else perform(world, { do: 'advance', node: i })
  return world.nextProposal !== before
}
