/**
 * `holdfast doctor`: its options and help.
 */
import { Command } from 'commander'
import type { DoctorOptions } from '../doctor/doctor-command.ts'
import { configOption, type Done, examples, jsonOption } from './options.ts'

export function doctorCommand(done: Done): Command {
  return new Command('doctor')
    .description('report problems of a running or stopped node and what to do about them; changes nothing')
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\nRun it as the user of the node. Exits with 1 if there is an error.\n${examples('doctor --config n1.yaml')}`,
    )
    .action(async (options: DoctorOptions) => {
      const { runDoctor } = await import('../doctor/doctor-command.ts')
      done(await runDoctor(options))
    })
}
