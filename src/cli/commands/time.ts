/**
 * `holdfast cluster time`: its names, options and help.
 */
import { Command } from 'commander'
import type { CorrectTimeOptions, TimeOptions } from '../admin/time-commands.ts'
import { type Done, dryRunOption, examples, jsonOption, reasonOption, withAdminAccess } from './options.ts'

export function timeCommand(done: Done): Command {
  return new Command('time')
    .description('the cluster time, which ends retention and uploads, and the clocks behind it')
    .addCommand(showCommand(done))
    .addCommand(
      correcting('confirm')
        .description('confirm the withheld part of the cluster time')
        .addHelpText(
          'after',
          examples("cluster time confirm --reason 'it was switched off for two weeks' --confirm"),
        )
        .action(async (options: CorrectTimeOptions) => {
          const { confirmTime } = await import('../admin/time-commands.ts')
          done(await confirmTime(options))
        }),
    )
    .addCommand(
      correcting('set-back')
        .description('set the cluster time back to that of the majority of the clocks')
        .addHelpText(
          'after',
          examples("cluster time set-back --reason 'all clocks were in 2029 for an hour' --confirm"),
        )
        .action(async (options: CorrectTimeOptions) => {
          const { setTimeBack } = await import('../admin/time-commands.ts')
          done(await setTimeBack(options))
        }),
    )
}

function showCommand(done: Done): Command {
  return withAdminAccess(new Command('show'))
    .description('show the cluster time, its withheld part, and the offset of each clock')
    .addOption(jsonOption())
    .addHelpText('after', examples('cluster time show'))
    .action(async (options: TimeOptions) => {
      const { showTime } = await import('../admin/time-commands.ts')
      done(await showTime(options))
    })
}

const correcting = (name: string): Command =>
  withAdminAccess(new Command(name))
    .option('--confirm', 'make the change; without this the command is a dry run')
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(jsonOption())
