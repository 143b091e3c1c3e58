/**
 * The tree of commands: every --help has an example, and a program can read the output of every command.
 */
import { spawnSync } from 'node:child_process'
import type { Command } from 'commander'
import t from 'tap'
import { completionScript, SHELLS } from '../../src/cli/local/completion.ts'
import { programOf } from '../../src/cli/program.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

interface Leaf {
  /** As it is typed, without the program. */
  readonly path: string
  readonly command: Command
}

function leavesOf(command: Command, path = ''): readonly Leaf[] {
  if (command.commands.length === 0) return [{ path, command }]
  return command.commands.flatMap((inner) => leavesOf(inner, `${path} ${inner.name()}`.trim()))
}

const program = programOf(() => {})
const leaves = leavesOf(program)

/** Including the text after the options. */
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (piece) => (text += piece) })
  command.outputHelp()
  return text
}

/** The server prints the log of its node. */
const WITHOUT_JSON = ['server']

t.test('every command', async (t) => {
  t.ok(leaves.length > 30)
  for (const { path, command } of leaves) {
    const help = helpOf(command)
    t.match(command.description(), /^[a-z].*[^.]$/, `${path} says what it does`)
    t.match(help, /\nExamples?:\n/, `${path} has an example in its help`)
    const examples = (help.split(/\nExamples?:\n/)[1] ?? '').trim().split('\n')
    t.ok(
      examples.some((line) => line.includes(`holdfast ${path}`)),
      `an example shows ${path}`,
    )
    const hasJson = command.options.some(({ long }) => long === '--json')
    t.equal(hasJson, !WITHOUT_JSON.includes(path), `${path} prints JSON when it is asked to`)
    for (const { long, description } of command.options) t.ok(description, `${path} ${long} is explained`)
  }
})

t.test('no command takes a secret on the command line', async (t) => {
  for (const { path, command } of leaves)
    for (const { long } of command.options)
      t.notMatch(long, /^--(token|secret|secret-key|password|access-key|master-key)$/, `${path} ${long}`)
})

t.test('every command that changes something over the admin API has a dry run', async (t) => {
  const changes =
    /^(tenant|account|key|quota|limits|policy|cluster) .*\b(create|delete|disable|rotate|revoke|set|clear|rebalance|scrub|recount|cancel|pause|resume|resume-collection)$/
  const found = leaves.filter(({ path }) => changes.test(path))
  t.ok(found.length >= 12)
  for (const { path, command } of found)
    t.ok(
      command.options.some(({ long }) => long === '--dry-run'),
      path,
    )
})

/** The words that the completion offers after these. */
function offered(words: readonly string[]): readonly string[] {
  const script = `${completionScript(program, 'bash')}
holdfast() { if [ "$1 $2 $3" = 'complete -- pho' ]; then echo photos/; else return 1; fi; }
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_holdfast
printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr, status } = spawnSync(...withoutLoader('bash', '-eu'), {
    input: script,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return stdout.split('\n').filter((line) => line !== '')
}

t.test('holdfast completion', async (t) => {
  await t.test('offers in bash the commands, options and values that may follow', async (t) => {
    t.same(offered(['holdfast', 'buck']), ['bucket'])
    t.same(offered(['holdfast', 'bucket', '']), [
      'create',
      'get',
      'usage',
      'delete',
      'versioning',
      'object-lock',
      'lifecycle',
    ])
    t.same(offered(['holdfast', 'cluster', 'operations', 'pa']), ['pause'])
    t.same(offered(['holdfast', 'put', 'a.txt', 'b/', '--no-p']), ['--no-progress'])
    t.same(offered(['holdfast', 'sign', '--method', '']), ['GET', 'PUT'])
    t.same(offered(['holdfast', 'ls', 'pho']), ['photos/'], 'buckets, from the service')
    t.same(offered(['holdfast', 'bucket', 'get', 'pho']), ['photos/'])
    t.same(offered(['holdfast', 'bucket', 'versioning', 'photos', 'o']), ['on', 'off'])
  })

  await t.test('knows in every shell every command and every option', async (t) => {
    for (const shell of SHELLS) {
      const script = completionScript(program, shell)
      for (const { path, command } of leaves) {
        const name = command.name()
        t.match(script, new RegExp(`\\b${name}\\b`), `${shell}: ${path}`)
        for (const { long } of command.options)
          if (long)
            t.ok(
              script.includes(shell === 'fish' ? `-l ${long.slice(2)} ` : long),
              `${shell}: ${path} ${long}`,
            )
      }
    }
  })

  await t.test('quotes descriptions', async (t) => {
    const odd = programOf(() => {})
    odd.command('odd').description("what's $(touch x) `touch y`: a colon")
    for (const shell of ['zsh', 'fish'] as const)
      t.match(completionScript(odd, shell), /what'\\''s \$\(touch x\) `touch y`\\?: a colon'/, shell)
  })
})
