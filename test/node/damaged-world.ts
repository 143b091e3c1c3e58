/**
 * Worlds in which the state of a running node is damaged, and what must hold after its repair.
 */
import type { Test } from 'tap'
import type { NodeOptions } from '../../cluster/node/base/options.ts'
import { StateDamagedError } from '../../cluster/base/types.ts'
import { NodeWorld, type WorldOptions } from '../helpers/node-world.ts'

export const keepLittle: Partial<NodeOptions> = { logKeepEntries: 8, logKeepBytes: 1024 * 1024 }

export async function appendMany(world: NodeWorld, count: number, word = 'text'): Promise<void> {
  for (let i = 0; i < count; i += 1) await world.run(world.append(world.leaderOrDie(), `${word} ${i}`))
}

export async function filledWorld(options: WorldOptions = {}): Promise<NodeWorld> {
  const world = await NodeWorld.started(options)
  await appendMany(world, 20)
  await world.untilEqual()
  return world
}

/** A row is damaged and a reader of the service finds it. */
export function meetDamage(t: Test, world: NodeWorld, nodeId: string): void {
  world.state(nodeId).damage = `a bit of a row of ${nodeId} is flipped`
  t.throws(() => world.process(nodeId).machine.read(), StateDamagedError)
}

/** Until the returned function is called, only `nodeId` sends its state. */
export function withhold(world: NodeWorld, nodeId: string): () => void {
  const others = world.running
    .filter((other) => other !== nodeId)
    .map((other) => world.process(other).machine)
  for (const machine of others) machine.snapshot = () => Promise.reject(new Error('not now'))
  return () => others.forEach((machine) => Reflect.deleteProperty(machine, 'snapshot'))
}

/** Whether there is damage to find. */
export function readAt(world: NodeWorld, nodeId: string): void {
  try {
    world.process(nodeId).machine.read()
  } catch (error) {
    if (!(error instanceof StateDamagedError)) throw error
  }
}

export function rebuilds(world: NodeWorld, nodeId: string): number {
  const sample = world
    .node(nodeId)
    .metrics()
    .find(({ name }) => name === 'holdfast_state_rebuilds_total')
  return sample?.value ?? -1
}

export async function untilRebuilt(world: NodeWorld, nodeId: string): Promise<void> {
  const isDone = (): boolean => world.state(nodeId).damage === null && world.node(nodeId).readiness().ready
  await world.clock.runUntil(isDone, { limitMs: 60_000 })
}

export async function untilEveryoneIsEqual(t: Test, world: NodeWorld): Promise<void> {
  await world.untilReady()
  await world.run(world.append(world.leaderOrDie(), 'after'))
  await world.untilEqual()
  const texts = world.texts(world.leaderOrDie())
  t.equal(new Set(texts).size, texts.length, 'nothing took effect twice')
  for (const nodeId of world.running) {
    t.strictSame(world.texts(nodeId), texts)
    t.same(world.state(nodeId).sum, world.state(world.leaderOrDie()).sum)
    t.equal(world.state(nodeId).quarantined, null)
  }
}
