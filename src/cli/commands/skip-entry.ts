/**
 * `holdfast recover skip-entry`: an entry that no node can apply. Names, options and help.
 */
import { Command, Option } from 'commander'
import type { SkipApplyOptions } from '../recover/skip-apply.ts'
import type { SkipCollectOptions } from '../recover/skip-collect.ts'
import type { SkipPlanOptions } from '../recover/skip-plan.ts'
import { configOption, type Done, examples, jsonOption, reasonOption } from './options.ts'

export const deadOption = (): Option =>
  new Option('--dead <nodeIds>', 'members that are permanently lost, separated by commas').argParser(
    (text: string) => text.split(',').map((name) => name.trim()),
  )

export function skipEntryCommand(done: Done): Command {
  const group = new Command('skip-entry').description(
    'skip an entry that no node can apply, on all nodes; see deploy/runbooks/skip-entry.md',
  )
  for (const command of [collectCommand, planCommand, applyCommand]) group.addCommand(command(done))
  return group
}

function collectCommand(done: Done): Command {
  return new Command('collect')
    .description('write a report of the entry that a stopped node cannot apply; changes nothing')
    .addOption(configOption())
    .addOption(new Option('--out <dir>', 'the folder for the report').makeOptionMandatory())
    .addOption(jsonOption())
    .addHelpText('after', examples('recover skip-entry collect --config n1.yaml --out reports'))
    .action(async (options: SkipCollectOptions) => {
      const { collectEntry } = await import('../recover/skip-collect.ts')
      done(await collectEntry(options))
    })
}

function planCommand(done: Done): Command {
  return new Command('plan')
    .description('decide from the reports of all nodes whether the entry may be skipped; changes nothing')
    .addOption(configOption())
    .addOption(new Option('--reports <dir>', 'reports of all voters').makeOptionMandatory())
    .addOption(reasonOption())
    .addOption(deadOption())
    .option('--out <file>', 'write the plan to a new file (default: only print it)')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        "recover skip-entry plan --config n1.yaml --reports reports --reason 'bug 4711'",
        "recover skip-entry plan --config n1.yaml --reports reports --reason 'bug 4711' --out skip.json",
      ),
    )
    .action(async (options: SkipPlanOptions) => {
      const { planSkipping } = await import('../recover/skip-plan.ts')
      done(await planSkipping(options))
    })
}

function applyCommand(done: Done): Command {
  return new Command('apply')
    .description('order a stopped node to skip the entry; run it on every node before any of them starts')
    .addOption(configOption())
    .addOption(new Option('--plan <file>', 'the file that skip-entry plan wrote').makeOptionMandatory())
    .option('--confirm <index>', 'the index of the entry; without it nothing is changed')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'recover skip-entry apply --config n1.yaml --plan skip.json',
        'recover skip-entry apply --config n1.yaml --plan skip.json --confirm 4711',
      ),
    )
    .action(async (options: SkipApplyOptions) => {
      const { applySkip } = await import('../recover/skip-apply.ts')
      done(await applySkip(options))
    })
}
