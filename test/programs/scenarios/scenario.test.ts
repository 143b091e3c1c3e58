/** Valid scenario files, refusals with their place, and a checker that no text can override. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { assertTraces, formatScenario, parseScenario } from './scenario-file.ts'
import { playScenario } from './scenario.ts'

function play(text: string): readonly (readonly string[])[] {
  return playScenario(parseScenario('area/name.txt', text))
}

function refused(t: Test, text: string, message: RegExp): void {
  t.throws(() => play(text), { name: 'ScenarioError', message })
}

t.test('a scenario file', async (t) => {
  const text = '# What it shows.\n\ngroup a\ncampaign a\n----\nsomething\n\n# Then.\ndisk a\n----\nelse\n'

  t.test('is unchanged after it was read and written', async (t) => {
    const file = parseScenario('f.txt', text)
    t.equal(
      formatScenario(
        file,
        file.blocks.map(({ trace }) => trace),
      ),
      text,
    )
  })

  t.test('keeps comments and commands when it is rewritten, and then plays as written', async (t) => {
    const file = parseScenario('f.txt', text)
    const rewritten = formatScenario(file, playScenario(file))
    t.match(rewritten, '# What it shows.\n\ngroup a\ncampaign a\n----\na: tick, 9 times\n')
    t.match(rewritten, '\n\n# Then.\ndisk a\n----\na: disk 1 done\n')
    const again = parseScenario('f.txt', rewritten)
    t.equal(formatScenario(again, playScenario(again)), rewritten)
    t.doesNotThrow(() => assertTraces(again))
  })

  t.test('is refused with the line when a separator or a trace is missing', async (t) => {
    refused(t, '# Rule.\n\ngroup a\nsettle\n', /^area\/name.txt:3: a block needs a line ----/)
    refused(t, '# Rule.\n\ngroup a\n----\n\n# Only words.\n----\n', /^area\/name.txt:6: no command/)
    const empty = parseScenario('area/name.txt', '# Rule.\n\ngroup a\nsettle\n----\n')
    t.throws(() => assertTraces(empty), { message: /^area\/name.txt:5: no trace follows/ })
  })

  t.test('is refused when it does not open with the rule it shows, or shows nothing', async (t) => {
    refused(t, 'group a\n----\n', /:1: a scenario opens with lines of #/)
    refused(t, '', /:1: a scenario opens with lines of #/)
    refused(t, '# Rule.\n', /:1: the scenario has no commands/)
  })
})

t.test('the example in CONTRIBUTING.md', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../../CONTRIBUTING.md'), 'utf8')
  const [, example = ''] = /^### Scenarios$[\s\S]*?^```\n([\s\S]*?)^```$/m.exec(page) ?? []

  t.test('plays as written', async (t) => {
    const file = parseScenario('CONTRIBUTING.md', example)
    t.equal(formatScenario(file, playScenario(file)), example)
  })
})

t.test('a command', async (t) => {
  const inGroup = (line: string): string => `# Rule.\n\ngroup a b\n${line}\n----\n`

  t.test('is refused with its line when it is unknown, with the list of commands', async (t) => {
    refused(
      t,
      inGroup('deliverr a>b'),
      /^area\/name.txt:4: unknown command deliverr; there are: group, tick,/,
    )
  })

  t.test('is refused when a word is missing, wrong or left over, with its usage', async (t) => {
    refused(t, inGroup('crash'), /^area\/name.txt:4: a member is missing\nusage: crash/)
    refused(t, inGroup('tick x'), /:4: there is no member x/)
    refused(t, inGroup('crash a survivor=1'), /:4: nothing here understands survivor=1/)
    refused(t, inGroup('crash a survivors=all'), /:4: survivors= must be a number, not all/)
    refused(t, inGroup('heal everything'), /:4: nothing here understands everything/)
    refused(t, inGroup('cut a'), /:4: expected from>to, not a/)
    refused(t, inGroup('forge b>a Append t1 after=1'), /:4: expected index\/term, not 1/)
    refused(t, inGroup('forge b>a Rumour t1'), /:4: Rumour cannot be forged/)
    refused(t, inGroup('log a terms=1 configuration=a,b'), /:4: expected index:text, not a,b/)
  })

  t.test('is refused when its target does not exist', async (t) => {
    refused(t, '# Rule.\n\nsettle\n----\n', /:3: there is no group yet/)
    refused(t, inGroup('group c'), /:4: there is a group already/)
    refused(t, inGroup('deliver a>b'), /:4: no such message is under way/)
    refused(t, inGroup('disk a'), /:4: a has 0 writes under way/)
    refused(t, inGroup('apply a'), /:4: a has nothing to apply/)
    refused(t, inGroup('pull a'), /:4: a pulls no snapshot/)
    refused(t, inGroup('release late'), /:4: nothing is held as late/)
  })

  t.test('that must stop the process is refused when it does not', async (t) => {
    refused(t, inGroup('must-stop tick a'), /:4: no invariant was broken, but one must be/)
    refused(t, inGroup('compact a 7'), /:4: Raft invariant broken/)
    t.match(play(inGroup('must-stop compact a 7')), [[/compact/, /stops: Raft invariant broken/]])
  })
})

t.test('the checker', async (t) => {
  t.test('fails a scenario that breaks a promise, for any text', async (t) => {
    // A forged leader makes a commit an entry that no node holds.
    const text =
      '# Rule.\n\ngroup a b c\nforge b>a Append t1 entries=1/1:x commit=1\ndisk a\n----\na: whatever\n'
    refused(t, text, /^area\/name.txt:5: Safety broken: a applies 1, which no leader committed/)
  })

  t.test('compares the logs after every block', async (t) => {
    const text =
      '# Rule.\n\ngroup a b c\nforge c>a Append t1 entries=1/1:x\nforge c>b Append t1 entries=1/1:y\n----\n'
    refused(t, text, /^area\/name.txt:6: Safety broken: logs of a and b differ at 1/)
  })
})

t.test('the trace', async (t) => {
  t.test('is the same every time', async (t) => {
    const text = '# Rule.\n\ngroup a b c\nelect a\nread b r\npropose a x\ntime 20\ncrash a\ntime 40\n----\n'
    t.strictSame(play(text), play(text))
  })

  t.test('shows only the state of the members after quiet preparations', async (t) => {
    t.strictSame(play('# Rule.\n\ngroup a\nquietly elect a\n----\n'), [
      ['a leads t1, log 1/1, commit 1, applied 1, {a}'],
    ])
  })

  t.test('is ok when nothing happens', async (t) => {
    t.strictSame(play('# Rule.\n\ngroup a b\ncut a-b\n----\n'), [['ok']])
  })
})
