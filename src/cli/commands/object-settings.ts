/**
 * `holdfast tag`, `retention`, `legal-hold`: their names, options and help.
 */
import { Argument, Command, Option } from 'commander'
import type { SetRetentionOptions, SettingOptions, SetTagsOptions } from '../objects/settings-commands.ts'
import { versionOption } from './objects.ts'
import { type Done, durationValue, examples, jsonOption, withDataAccess } from './options.ts'

const ofObject = (name: string): Command =>
  withDataAccess(new Command(name))
    .argument('<path>', 'bucket/key')
    .addOption(versionOption())
    .addOption(jsonOption())

export function tagCommand(done: Done): Command {
  return new Command('tag')
    .description('tags of an object')
    .addCommand(getTagsCommand(done))
    .addCommand(setTagsCommand(done))
    .addCommand(removeTagsCommand(done))
}

function getTagsCommand(done: Done): Command {
  return ofObject('get')
    .description('show the tags of an object')
    .addHelpText('after', examples('tag get photos/cat.jpg'))
    .action(async (path: string, options: SettingOptions) => {
      const { getTags } = await import('../objects/settings-commands.ts')
      done(await getTags(path, options))
    })
}

function setTagsCommand(done: Done): Command {
  return ofObject('set')
    .description('set tags of an object; its other tags stay')
    .argument('<name=value...>', 'one or several tags')
    .option('--replace', 'remove all other tags')
    .addHelpText('after', examples('tag set photos/cat.jpg project=alpha team=web'))
    .action(async (path: string, pairs: readonly string[], options: SetTagsOptions) => {
      const { setTags } = await import('../objects/settings-commands.ts')
      done(await setTags(path, pairs, options))
    })
}

function removeTagsCommand(done: Done): Command {
  return ofObject('remove')
    .description('remove tags of an object, or all of them')
    .argument('[name...]', 'only these tags')
    .addHelpText('after', examples('tag remove photos/cat.jpg project', 'tag remove photos/cat.jpg'))
    .action(async (path: string, names: readonly string[], options: SettingOptions) => {
      const { removeTags } = await import('../objects/settings-commands.ts')
      done(await removeTags(path, names, options))
    })
}

export function retentionCommand(done: Done): Command {
  return new Command('retention')
    .description('until when an object cannot be removed')
    .addCommand(
      ofObject('get')
        .description('show the retention of an object')
        .addHelpText('after', examples('retention get vault/deed.pdf'))
        .action(async (path: string, options: SettingOptions) => {
          const { getRetention } = await import('../objects/settings-commands.ts')
          done(await getRetention(path, options))
        }),
    )
    .addCommand(
      ofObject('set')
        .description('set or extend the retention of an object')
        .addOption(
          new Option('--mode <mode>', 'COMPLIANCE cannot be shortened by anyone')
            .choices(['GOVERNANCE', 'COMPLIANCE'])
            .makeOptionMandatory(),
        )
        .option('--until <time>', 'RFC 3339 time or date')
        .option('--for <duration>', 'from now, such as 30d', durationValue)
        .addHelpText(
          'after',
          examples(
            'retention set vault/deed.pdf --mode GOVERNANCE --for 30d',
            'retention set vault/deed.pdf --mode COMPLIANCE --until 2035-01-01',
          ),
        )
        .action(async (path: string, options: SetRetentionOptions) => {
          const { setRetention } = await import('../objects/settings-commands.ts')
          done(await setRetention(path, options))
        }),
    )
}

export function legalHoldCommand(done: Done): Command {
  return new Command('legal-hold')
    .description('keep an object until the hold ends')
    .addCommand(
      ofObject('get')
        .description('show whether an object is under legal hold')
        .addHelpText('after', examples('legal-hold get vault/deed.pdf'))
        .action(async (path: string, options: SettingOptions) => {
          const { getLegalHold } = await import('../objects/settings-commands.ts')
          done(await getLegalHold(path, options))
        }),
    )
    .addCommand(
      ofObject('set')
        .description('begin or end the legal hold of an object')
        .addArgument(new Argument('<state>').choices(['on', 'off']))
        .addHelpText('after', examples('legal-hold set vault/deed.pdf on'))
        .action(async (path: string, state: string, options: SettingOptions) => {
          const { setLegalHold } = await import('../objects/settings-commands.ts')
          done(await setLegalHold(path, state, options))
        }),
    )
}
