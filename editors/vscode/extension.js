const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("mkeyspec").get("command", "mkeyspec");
  const options = { documentSelector: [{ language: "mks" }] };
  client = new LanguageClient("mkeyspec", "mkeyspec", { command, args: ["lsp"] }, options);
  return client.start();
};

exports.deactivate = () => client && client.stop();
