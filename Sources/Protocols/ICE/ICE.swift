// ICE
