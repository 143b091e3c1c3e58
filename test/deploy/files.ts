/**
 * The deployment files as data, for the tests that compare them with each other and with the code.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const NODES = ['n1', 'n2', 'n3'] as const

export const inRoot = (path: string): string => join(ROOT, path)
export const exists = (path: string): boolean => existsSync(inRoot(path))
export const read = (path: string): string => readFileSync(inRoot(path), 'utf8')

export interface Service {
  readonly image: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly hostname?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly profiles?: readonly string[]
  readonly depends_on?: unknown
  readonly cap_add?: readonly string[]
  readonly volumes: readonly string[]
  readonly command?: readonly string[]
  readonly stop_grace_period?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly privileged?: boolean
  readonly user?: string
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

export const compose = parse(read('docker-compose.cluster.yml'), { merge: true }) as Compose

export function service(name: string): Service {
  const found = compose.services[name]
  if (found === undefined) throw new Error(`docker-compose.cluster.yml has no service ${name}`)
  return found
}

/** `${NAME:-default}` as compose replaces it when NAME is not set, or with the values given. */
export function fillIn(text: string, values: Readonly<Record<string, string>> = {}): string {
  return text.replace(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name: string, fallback: string) => values[name] ?? fallback,
  )
}

export interface Mount {
  readonly source: string
  readonly target: string
  readonly isReadOnly: boolean
}

export function mountsOf(name: string): readonly Mount[] {
  return service(name).volumes.map((text) => {
    const [source = '', target = '', mode] = fillIn(text).split(':')
    return { source, target, isReadOnly: mode === 'ro' }
  })
}

export interface Instruction {
  readonly word: string
  readonly rest: string
}

/** Continued lines joined, comments dropped. */
export const dockerfile: readonly Instruction[] = read('deploy/Dockerfile')
  .replace(/^\s*#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [word = '', ...rest] = line.trim().split(/\s+/)
    return { word, rest: rest.join(' ') }
  })

export const instructions = (word: string): readonly string[] =>
  dockerfile.filter((instruction) => instruction.word === word).map(({ rest }) => rest)

/** Whether .dockerignore lets a path into the build: the last line that fits it or a folder above it decides. */
export function isLetIn(path: string): boolean {
  let letIn = true
  for (const line of read('.dockerignore').split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const pattern = line.replace(/^!/, '')
    const expression = pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')
    if (new RegExp(`^${expression}(/.*)?$`).test(path)) letIn = line.startsWith('!')
  }
  return letIn
}

export function hasCommand(name: string, ...probe: readonly string[]): boolean {
  return spawnSync(name, probe, { stdio: 'ignore' }).status === 0
}
