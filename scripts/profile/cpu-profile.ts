/**
 * From a profile of V8 to what each stage used: of the time that the thread worked, or of the bytes that it allocated.
 *
 * Rule: a library's function counts to the stage of the nearest function of ours that called it; a stage has what its functions used
 * themselves, nothing twice.
 */
import { type Frame, ownPathOf, stageOfOther, stageOfOwn } from './stages.ts'

/** As the inspector gives it. [Chrome DevTools Protocol: Profiler.Profile] */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: Frame
    readonly children?: readonly number[]
  }[]
  readonly samples?: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas?: readonly number[]
}

/** As the inspector gives it. [Chrome DevTools Protocol: HeapProfiler.SamplingHeapProfile] */
export interface HeapProfile {
  readonly head: HeapNode
}

interface HeapNode {
  readonly callFrame: Frame
  /** Bytes, scaled up from the samples. */
  readonly selfSize: number
  readonly children: readonly HeapNode[]
}

/** Sampled microseconds, or bytes. */
export interface Sums {
  /** By stage; the name of a file of ours that has none. */
  readonly byStage: ReadonlyMap<string, number>
  /** By function, with its file; behind a function that is not ours the one of ours that called it. */
  readonly byFunction: ReadonlyMap<string, number>
}

const NOT_WORK = ['(idle)', '(root)']

export function sumsOf(profile: CpuProfile, root: string): Sums {
  const byId = new Map(profile.nodes.map((node) => [node.id, node]))
  const stages = new Map<number, string>()
  const names = new Map<number, string>()
  const walk = profile.nodes
    .slice(0, 1)
    .map(({ id }) => ({ id, inherited: null as string | null, caller: '' }))
  for (let next = walk.pop(); next !== undefined; next = walk.pop()) {
    const node = byId.get(next.id)
    if (node === undefined) continue
    const own = ownStageOf(node.callFrame, root)
    const inherited = own ?? next.inherited
    const isCollector = node.callFrame.functionName === '(garbage collector)'
    stages.set(
      node.id,
      isCollector ? stageOfOther(node.callFrame) : (inherited ?? stageOfOther(node.callFrame)),
    )
    const name = nameOf(node.callFrame, root)
    const caller = own === null ? next.caller : name
    names.set(node.id, own === null && caller !== '' ? `${name} < ${caller}` : name)
    for (const child of node.children ?? []) walk.push({ id: child, inherited, caller })
  }
  const byStage = new Map<string, number>()
  const byFunction = new Map<string, number>()
  for (const [at, id] of (profile.samples ?? []).entries()) {
    const node = byId.get(id)
    // The time until the next sample belongs to this one.
    const micros = profile.timeDeltas?.[at + 1] ?? 0
    if (node === undefined || micros < 0 || NOT_WORK.includes(node.callFrame.functionName)) continue
    add(byStage, stages.get(id) ?? '', micros)
    add(byFunction, names.get(id) ?? '', micros)
  }
  return { byStage, byFunction }
}

/** Bytes in the place of microseconds. */
export function ofAllocations({ head }: HeapProfile): CpuProfile {
  const nodes: CpuProfile['nodes'][number][] = []
  const sizes: number[] = []
  const visit = ({ callFrame, selfSize, children }: HeapNode): number => {
    const id = nodes.length
    nodes.push({ id, callFrame })
    sizes.push(selfSize)
    nodes[id] = { id, callFrame, children: children.map(visit) }
    return id
  }
  visit(head)
  return { nodes, samples: nodes.map(({ id }) => id), timeDeltas: [0, ...sizes] }
}

function ownStageOf(frame: Frame, root: string): string | null {
  const path = ownPathOf(frame.url, root)
  if (path === null) return null
  return stageOfOwn(path) ?? `no stage: ${path}`
}

function nameOf({ functionName, url }: Frame, root: string): string {
  const place = ownPathOf(url, root) ?? url.replace(/^.*node_modules\//, '')
  return `${functionName === '' ? '(anonymous)' : functionName} ${place}`.trim()
}

export function add(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount)
}

export const total = (sums: ReadonlyMap<string, number>): number =>
  [...sums.values()].reduce((all, one) => all + one, 0)
