/**
 * The page of a profile: stages and threads of each node, in microseconds of processor time or in allocated bytes for an operation.
 *
 * Rule: of time, the columns add up: the stages of the threads that run script are scaled to what the kernel measured of each thread, and a thread without
 * script is a row of its own.
 */
import { type Column, columnsOf } from '../bench/table.ts'
import { short } from '../race/report.ts'
import type { Sampled } from './inspected-node.ts'
import { STAGES } from './stages.ts'

/** One node while one load ran. Microseconds or bytes for an operation of that load. */
export interface NodeProfile {
  /** Such as "leader, asked". */
  readonly role: string
  /** By thread. */
  readonly threads: Readonly<Record<string, number>>
  /** By thread and stage; only threads that run script. */
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** The functions that used most themselves, or for what they called that is not ours, on all threads. */
  readonly functions: readonly { readonly name: string; readonly amount: number }[]
}

export interface LoadProfile {
  readonly operation: string
  readonly clients: number
  readonly at: 'leader' | 'follower'
  readonly operations: number
  readonly seconds: number
  readonly errors: number
  readonly firstError: string | null
  readonly nodes: readonly NodeProfile[]
}

export interface ProfileReport {
  readonly of: Sampled
  readonly startedAt: string
  readonly version: string
  readonly node: string
  readonly processors: number
  readonly loadBefore: number
  readonly loads: readonly LoadProfile[]
}

const FUNCTIONS_SHOWN = 24

const COUNTED: Readonly<Record<Sampled, string>> = {
  time: 'Microseconds of processor time for an operation, by node; each column adds up to what the kernel measured.',
  allocations:
    'Bytes that V8 allocated in its heaps for an operation, by node, collected ones included; memory of buffers is outside of them. Sampled each 16 KiB.',
}

export function pageOf(report: ProfileReport): string {
  const { of, startedAt, version, node, processors, loadBefore } = report
  return [
    `# Profile, ${startedAt}`,
    '',
    `Holdfast ${version}, Node ${node}, ${processors} processors, load ${loadBefore.toFixed(2)} before. ${COUNTED[of]} How to read it: docs/benchmarks/profile.md.`,
    ...report.loads.flatMap(section),
    '',
  ].join('\n')
}

interface Line {
  readonly name: string
  readonly values: readonly (number | null)[]
}

function section(load: LoadProfile): string[] {
  const { operation, clients, at, operations, seconds, errors, firstError, nodes } = load
  const heading = `## ${operation} at ${at === 'leader' ? 'the leader' : 'a follower'}, ${clients === 1 ? 'one client' : `${clients} clients`}`
  const columns: Column<Line>[] = [
    { title: '', of: ({ name }) => name },
    ...nodes.map(({ role }, node) => ({ title: role, of: ({ values }: Line) => cell(values[node] ?? null) })),
    { title: 'all', of: ({ values }) => cell(sum(values)) },
    {
      title: '%',
      of: ({ values }) => ((100 * sum(values)) / allOf(nodes)).toFixed(1),
    },
  ]
  return [
    '',
    heading,
    '',
    `${operations} operations in ${seconds.toFixed(1)} s${errors === 0 ? '' : `, ${errors} errors, the first: ${firstError}`}.`,
    '',
    ...columnsOf(columns, [...stageLines(nodes), ...threadLines(nodes, false), sumLine(nodes)]),
    '',
    'By thread:',
    '',
    ...columnsOf(columns, [...threadLines(nodes, true), sumLine(nodes)]),
    '',
    ...functionLines(nodes),
  ]
}

const cell = (value: number | null): string => (value === null || value === 0 ? '-' : short(value))

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, one) => all + (one ?? 0), 0)

const totalOf = ({ threads }: NodeProfile): number => sum(Object.values(threads))

const allOf = (nodes: readonly NodeProfile[]): number => sum(nodes.map(totalOf))

function stageLines(nodes: readonly NodeProfile[]): Line[] {
  const used = new Set(
    nodes.flatMap(({ stages }) => Object.values(stages).flatMap((own) => Object.keys(own))),
  )
  const known: readonly string[] = STAGES
  const names = [
    ...known.filter((stage) => used.has(stage)),
    ...[...used].filter((stage) => !known.includes(stage)).sort(),
  ]
  return names.map((name) => ({
    name,
    values: nodes.map(({ stages }) => sum(Object.values(stages).map((own) => own[name] ?? 0))),
  }))
}

/** `all`: threads that run script too; their time is in the stages already. */
function threadLines(nodes: readonly NodeProfile[], all: boolean): Line[] {
  const names = new Set(
    nodes.flatMap(({ threads, stages }) =>
      Object.keys(threads).filter((name) => all || stages[name] === undefined),
    ),
  )
  return [...names].sort().map((name) => ({
    name: all ? name : `thread: ${name}`,
    values: nodes.map(({ threads, stages }) =>
      all || stages[name] === undefined ? (threads[name] ?? 0) : 0,
    ),
  }))
}

function sumLine(nodes: readonly NodeProfile[]): Line {
  return { name: 'sum', values: nodes.map(totalOf) }
}

function functionLines(nodes: readonly NodeProfile[]): string[] {
  const sums = new Map<string, number>()
  for (const { functions } of nodes)
    for (const { name, amount } of functions) sums.set(name, (sums.get(name) ?? 0) + amount)
  const most = [...sums].toSorted(([, one], [, other]) => other - one).slice(0, FUNCTIONS_SHOWN)
  return [
    'Functions that use most themselves, in all nodes:',
    '',
    ...most.map(([name, amount]) => `- ${short(amount)} \`${name}\``),
  ]
}
